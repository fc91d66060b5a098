package io.github.pushcrypt;

import static io.github.pushcrypt.Bytes.base64;

import io.github.pushcrypt.Json.Obj;
import java.security.MessageDigest;
import java.util.*;
import java.util.stream.Stream;

/**
 * One key record: a JWK (PROTOCOL section 3). A public key's {@code secret} and a missing psk are null. A record with day keys has {@code days},
 * and a day key its {@code owner}: the key of the record. Otherwise they are null.
 */
record Key(KeyType type, String kid, byte[] publicBytes, byte[] secret, byte[] psk, String device, boolean isPublisher, DeviceSet days, Key owner) {
    /** Only a device key has a {@code kid} that isn't its own, that of its master. Otherwise it is given as null. */
    Key {
        if (kid == null) kid = base64(Arrays.copyOf(Bytes.sha256(Bytes.utf8(Json.write(thumbprintMembers(type, publicBytes, secret)))), 8));
    }
    Key(KeyType type, String kid, byte[] publicBytes, byte[] secret, byte[] psk, String device, boolean isPublisher) {
        this(type, kid, publicBytes, secret, psk, device, isPublisher, null, null);
    }
    /** Throws {@link PushCryptException}. If {@code isChecked} is false, the key may be no point of its curve. */
    static Key read(Object value, boolean isChecked) {
        return Flaw.coded("malformed", "the key record", () -> read(Json.object(value, "it"), isChecked));
    }
    private static Key read(Obj jwk, boolean isChecked) {
        String kty = jwk.string("kty"), kid = base64(jwk.bytes("kid", 8));
        KeyType type = Stream.of(KeyType.values()).filter(one -> one.kty.equals(kty) && one.alg.equals(jwk.get("alg"))
                && (one.crv == null || one.crv.equals(jwk.get("crv")))).findFirst().orElse(null);
        boolean isPublisher = type == KeyType.ED25519 && jwk.has("role");
        boolean isKnown = type != null && (!isPublisher || "publisher".equals(jwk.get("role")));
        Flaw.unless(isKnown, "unsupportedKey", "the key record: its kty, crv, alg or role isn't supported");
        String secretName = type == KeyType.SHARED ? "k" : type == KeyType.XWING ? "priv" : "d";
        boolean hasOther = Stream.of("d", "priv").anyMatch(name -> jwk.has(name) && !name.equals(secretName));
        boolean fits = !hasOther && (!jwk.has("psk") || type.isPair()) && (!jwk.has("device") || type == KeyType.SHARED);
        Flaw.unless(fits, "it has a secret of another type");
        byte[] publicBytes = switch (type) {
            case P256 -> Bytes.concat(new byte[] {4}, jwk.bytes("x", 32), jwk.bytes("y", 32));
            case XWING -> jwk.bytes("pub", type.size);
            case SHARED -> Bytes.EMPTY;
            default -> jwk.bytes("x", 32);
        };
        byte[] secret = type == KeyType.SHARED || jwk.has(secretName) ? jwk.bytes(secretName, 32) : null;
        byte[] psk = jwk.has("psk") ? jwk.bytes("psk", 32) : null;
        Flaw.unless(!isChecked || type.isValid(publicBytes, secret), "invalidKey", "the key record: its keys aren't valid, or aren't a pair");
        String device = jwk.has("device") ? checkedDevice(jwk.string("device")) : null;
        Key key = new Key(type, device == null ? null : kid, publicBytes, secret, psk, device, isPublisher);
        Flaw.unless(key.kid.equals(kid), "kidMismatch", "the key record: its kid isn't that of its key, " + key.kid);
        if (!type.isPair() || secret != null || !jwk.has("deviceSet")) return key;
        return new Key(type, kid, publicBytes, null, psk, null, false, new DeviceSet(jwk.string("deviceSet"), key), null);
    }
    /** Whether it is the id of a device, an attachment or a challenge. */
    static boolean isId(Object value) { return value instanceof String id && id.matches("[A-Za-z0-9_-]{1,64}"); }
    private static String checkedDevice(String id) {
        Flaw.unless(isId(id), "invalidDeviceID", "a device id has 1 to 64 characters of A-Z, a-z, 0-9, _ and -");
        return id;
    }
    /** K_device = HKDF-SHA256(K_master, salt: empty, "pushcrypt/1 device" ‖ 0x00 ‖ lp16(kid) ‖ lp16(device id), 32) */
    Key forDevice(String id) {
        Flaw.unless(type == KeyType.SHARED && device == null, "wrongKind", "only a shared key that isn't a device's derives keys of devices");
        byte[] info = Bytes.concat(Envelope.label(" device"), Bytes.lp16(kid), Bytes.lp16(checkedDevice(id)));
        return new Key(type, kid, publicBytes, Bytes.expand(Bytes.hmac(Bytes.EMPTY, secret), info, 32), null, id, false);
    }
    // RFC 7638, RFC 8037, RFC 9964.
    private static Map<String, String> thumbprintMembers(KeyType type, byte[] publicBytes, byte[] secret) {
        return new TreeMap<>(switch (type) {
            case SHARED -> Map.of("kty", type.kty, "k", base64(secret));
            case XWING -> Map.of("kty", type.kty, "alg", type.alg, "pub", base64(publicBytes));
            case P256 -> Map.of("kty", type.kty, "crv", type.crv, "x", base64(Arrays.copyOfRange(publicBytes, 1, 33)),
                    "y", base64(Arrays.copyOfRange(publicBytes, 33, 65)));
            default -> Map.of("kty", type.kty, "crv", type.crv, "x", base64(publicBytes));
        });
    }
    /** The JWK. Without its private part it still has {@code k} and the psk. */
    Map<String, String> record(boolean isPrivate) {
        Map<String, String> members = new LinkedHashMap<>(thumbprintMembers(type, publicBytes, secret));
        members.putAll(Map.of("alg", type.alg, "kid", kid));
        if (isPrivate && hasPrivatePart()) members.put("d", base64(secret));
        if (psk != null) members.put("psk", base64(psk));
        if (!isPrivate && days != null) members.put("deviceSet", days.text);
        if (device != null) members.put("device", device);
        if (isPublisher) members.put("role", "publisher");
        return members;
    }
    /** The kind of a set with the key: {@code recipient}, {@code shared}, {@code sender} or {@code publisher}. */
    String kind() { return type == KeyType.SHARED ? "shared" : type.isPair() ? "recipient" : isPublisher ? "publisher" : "sender"; }
    /** Whether it has what only its owner may have. A shared key's {@code k} is for both sides. */
    boolean hasPrivatePart() { return type != KeyType.SHARED && secret != null; }
    Key publicHalf(boolean keepsPsk) { return new Key(type, null, publicBytes, null, keepsPsk ? psk : null, null, isPublisher); }
    private byte[] whole() { return Bytes.utf8(Json.write(record(true))); }
    /** Whether the whole records are equal, apart from day keys, in a time that doesn't depend on the secrets. */
    @Override public boolean equals(Object other) { return other instanceof Key key && MessageDigest.isEqual(whole(), key.whole()); }
    @Override public int hashCode() { return kid.hashCode(); }
}
