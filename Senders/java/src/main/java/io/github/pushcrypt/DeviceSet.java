package io.github.pushcrypt;

import io.github.pushcrypt.Json.Obj;
import java.security.MessageDigest;
import java.util.*;

/** The public day keys of a registration record (PROTOCOL section 14). MAC and form were checked; {@link #at} checks the key that it returns. */
final class DeviceSet {
    static final int MAX_SIZE = 32_768;
    private static final int MAX_KEYS = 16, DAY = 86_400, TOLERANCE = 600;
    /** The member of the record: BASE64URL(mac) ‖ "." ‖ set. */
    final String text;
    /** {@code flight} is the longest lifetime of a push, in seconds. */
    final long sequence, flight;
    private final Key record;
    private final List<Day> days;
    /** The key that was used last, so that a day's key is read once. */
    private volatile Key last;
    /** A key is used from {@code start} until before {@code end}. */
    private record Day(long start, long end, String kid, Obj jwk) {}
    /** Throws {@link PushCryptException}: pskMissing, tooLarge, notAuthentic, otherRegistration, duplicateKey; or a {@link Flaw}. */
    DeviceSet(String text, Key record) {
        this.text = text;
        this.record = record;
        String name = "the device set of key " + record.kid();
        Flaw.unless(record.psk() != null, "pskMissing", name + " needs a psk in the record");
        Flaw.unless(Bytes.utf8(text).length <= MAX_SIZE, "tooLarge", name + " has more than 32,768 bytes");
        int dot = text.indexOf('.');
        Flaw.unless(dot > 0, name + " doesn't begin with a MAC and a dot");
        byte[] mac = Bytes.base64(text.substring(0, dot), 32, "its MAC"), set = Bytes.utf8(text.substring(dot + 1));
        Flaw.unless(MessageDigest.isEqual(mac(set, record), mac), "notAuthentic", name + " was changed, or belongs to another record");
        Obj root = Json.parse(set), about = root.members("pushcrypt"), entries = Json.object(about.get("keys"), "keys of pushcrypt");
        List<Obj> jwks = root.list("keys", 1, MAX_KEYS).stream().map(jwk -> Json.object(jwk, "a day key")).toList();
        sequence = about.integer("seq", 0, Json.MAX_INTEGER);
        flight = about.integer("flight", DAY, 7 * DAY);
        Flaw.unless(entries.size() == jwks.size(), name + " hasn't one entry for each key");
        Flaw.unless(record.kid().equals(about.get("registration")), "otherRegistration", name + " belongs to another record");
        Set<Object> kids = new HashSet<>(Set.of(record.kid()));
        for (Obj jwk : jwks) {
            jwk.bytes("kid", 8);
            Flaw.unless(kids.add(jwk.get("kid")), "duplicateKey", name + " has a key twice, or the record's");
        }
        days = jwks.stream().map(jwk -> day(jwk, entries)).sorted(Comparator.comparing(Day::start)).toList();
        for (int at = 1; at < days.size(); at++) Flaw.unless(days.get(at - 1).end <= days.get(at).start, name + " has two keys for one day");
    }
    /** K_set = HKDF-SHA256(psk, salt: empty, "pushcrypt/1 device set" ‖ 0x00 ‖ lp16(kid), 32) */
    static byte[] mac(byte[] set, Key record) {
        byte[] info = Bytes.concat(Envelope.label(" device set"), Bytes.lp16(record.kid()));
        return Bytes.hmac(Bytes.expand(Bytes.hmac(Bytes.EMPTY, record.psk()), info, 32), set);
    }
    private Day day(Obj jwk, Obj entries) {
        Obj entry = Json.object(entries.get(jwk.string("kid")), "the entry of a day key");
        long start = entry.time("activatesAt"), end = entry.time("retiresAt"), count = (end - start) / DAY;
        boolean isWhole = start % DAY == 0 && end % DAY == 0 && count >= 1 && count <= 7 && entry.time("expiresAt") == end + flight + TOLERANCE;
        boolean isRight = isWhole && Boolean.TRUE.equals(entry.get("psk")) && entry.size() == 4;
        Flaw.unless(isRight, "a day key isn't for 1 to 7 whole days, or doesn't expire a flight and 10 minutes after them, or has no psk");
        return new Day(start, end, jwk.string("kid"), jwk);
    }
    /** The key for a time, with the record's psk and R; null if there is none. Throws as {@link Key#read}, and {@code wrongKind}. */
    Key at(long now) { return days.stream().filter(day -> day.start <= now && now < day.end).findFirst().map(this::key).orElse(null); }
    void checkKeys() { days.forEach(this::key); }
    private Key key(Day day) {
        Key known = last;
        if (known != null && known.kid().equals(day.kid)) return known;
        boolean isAlone = !day.jwk.has("deviceSet") && !day.jwk.has("priv"); // Java can't check a private key of suite 3.
        Key key = isAlone ? Key.read(day.jwk, true) : null;
        boolean isRight = key != null && key.type() == record.type() && key.secret() == null && key.psk() == null;
        Flaw.unless(isRight, "wrongKind", "day key " + day.kid + " isn't a public key of suite " + record.type().suite + " alone");
        return last = new Key(key.type(), key.kid(), key.publicBytes(), null, record.psk(), null, false, null, record);
    }
}
