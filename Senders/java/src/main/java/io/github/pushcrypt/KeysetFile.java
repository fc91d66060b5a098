package io.github.pushcrypt;

import static io.github.pushcrypt.Form.*;
import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.github.pushcrypt.Json.Obj;
import io.github.pushcrypt.PushCryptException.*;
import java.io.IOException;
import java.nio.file.*;
import java.security.*;
import java.util.*;
import java.util.function.Supplier;
import javax.crypto.Cipher;

/** The file of a keyset: its log and its keys (docs/keyset-log.md). */
public final class KeysetFile {
    private static final int MAX_SIZE = 4 << 20, ENC_OVERHEAD = 28;
    private static final Form ANY = value -> true, PLAIN = object(Map.of("v", ANY, "keys", List.class::isInstance, "digest", base64(32)), Map.of());
    private static final Form SCRYPT = object(Map.of("n", value -> integer(2, 1 << 20).fits(value) && Long.bitCount(((Json.Num) value).integer()) == 1,
            "r", integer(1, 32), "p", integer(1, 16), "salt", base64(16), "check", base64(16)), Map.of());
    private static final Form PASSPHRASE = object(Map.of("name", NAME, "passphrase", SCRYPT, "key", base64(60)), Map.of());
    private static final Form COMMAND = object(Map.of("name", NAME, "command", TRUE, "key", value -> Bytes.base64(value, 0, "key").length <= 4_096), Map.of());
    private static final Form LOCK = value -> (value instanceof Obj entry && entry.has("command") ? COMMAND : PASSPHRASE).fits(value);
    private static final Form SEALED = object(Map.of("v", ANY, "mac", base64(32), "sealed", object(Map.of("locks", list(LOCK, 1, 8, false), "dataKey", base64(60),
            "keys", value -> Bytes.base64(value, 0, "keys").length >= ENC_OVERHEAD), Map.of())), Map.of());
    private static final Form OPENED = object(Map.of("keys", List.class::isInstance, "history", base64(32)), Map.of());
    private final KeysetLog log;
    private final List<Key> material;
    private KeysetFile(KeysetLog log, List<Key> material) {
        this.log = log;
        this.material = material;
    }
    /** Reads a keyset whose keys are in clear. See {@link #read(Path, List)}. */
    public static KeysetFile read(Path file) { return read(file, List.of()); }
    /**
     * Reads a keyset whose keys a command unwraps (docs/keyset-log.md, "The wrap command"): a program and its arguments, to which {@code unwrap}
     * is appended, without a shell. The keys authenticate the file. Throws {@link PushCryptException} with a code of that page and a {@link Row},
     * {@code secretNeeded} also for keys that only a passphrase opens; {@code notFound}, {@code inputOutput}, {@code looseMode}, {@code
     * foreignOwner}, {@code wrapCommandFailed}.
     */
    public static KeysetFile read(Path file, List<String> command) {
        try {
            KeysetSecrets.checkFile(file);
            return parse(Files.readAllBytes(file), command, true);
        } catch (IOException e) {
            throw new PushCryptException("inputOutput", "the keyset can't be read", null, e);
        }
    }
    /** What the log says. Store its {@link KeysetLog#head}. */
    public KeysetLog log() { return log; }
    /** Refuses another keyset, and an older log than was seen: {@link PushCryptException} with {@code olderThanHistory}. */
    public KeysetFile requireAfter(KeysetLog.Point seen) {
        if (log.extend(seen)) return this;
        throw new PushCryptException("olderThanHistory", "the keyset " + log.id + " doesn't go on from its line " + seen.n() + ", which was seen before");
    }
    /** The keys with their times. The private halves of recipients' keys are left out. */
    public Keyset keyset() {
        return new Keyset(material.stream().map(key -> {
            Map<String, Long> times = new HashMap<>(log.keys.get(key.kid()).times());
            // A revocation counts at once, also if its time is to come.
            times.computeIfPresent("revokedAt", (name, time) -> Math.min(time, log.at));
            return new Keyset.Entry(key.type().isPair() ? key.publicHalf(true) : key, times, key.psk() != null);
        }).toList(), log.kind, log.number, log.at);
    }
    boolean isRevoked(String kid) { return log.keys.containsKey(kid) && log.keys.get(kid).times().containsKey("revokedAt"); }
    /** If {@code isUnlocked} is false, encrypted keys stay unread, and nothing proves that the log is genuine. */
    static KeysetFile parse(byte[] data, List<String> command, boolean isUnlocked) {
        if (data.length > MAX_SIZE) throw refusal("tooLarge", "the file has more than 4 MiB");
        if (data.length == 0 || data[data.length - 1] != '\n') throw refusal("incomplete", "the file is empty, or its end is missing");
        List<byte[]> rows = rows(Arrays.copyOf(data, data.length - 1));
        int number = rows.size();
        byte[] lastRow = rows.get(number - 1), history = Arrays.copyOf(data, data.length - lastRow.length - 1);
        Obj last = inRow(number, () -> Json.parse(lastRow, true));
        if (last.has("prev") && !last.has("v")) throw refusal("incomplete", "the last row is missing");
        inRow(number, () -> last.integer("v", 0, Json.MAX_INTEGER) == 1 ? last : fail("unsupportedVersion", "the file has another version"));
        KeysetLog log = log(rows.subList(0, number - 1));
        return new KeysetFile(log, inRow(number, () -> {
            if (last.has("sealed")) return readSealed(last, log, history, command, isUnlocked);
            PLAIN.fits(last);
            byte[] digest = Bytes.sha256(history, Bytes.utf8(last.raw("keys")));
            if (!MessageDigest.isEqual(last.bytes("digest", 32), digest)) fail("wrongDigest", "the digest isn't that of the rows and the keys");
            if (!command.isEmpty()) fail("notEncrypted", "the keys are in clear, although a command was given");
            return readMaterial((List<?>) last.get("keys"), log);
        }));
    }
    private static List<byte[]> rows(byte[] data) {
        return Arrays.stream(new String(data, ISO_8859_1).split("\n", -1)).map(row -> row.getBytes(ISO_8859_1)).toList();
    }
    /** Reads the lines of a log. */
    static KeysetLog log(List<byte[]> rows) {
        if (rows.isEmpty()) throw refusal("incomplete", "there is no line");
        KeysetLog log = new KeysetLog();
        for (byte[] row : rows) inRow(log.rows + 1, () -> log.add(row));
        return log;
    }
    private static PushCryptException refusal(String code, String reason) { return new PushCryptException(code, reason, new Row(0), null); }
    private static <T> T inRow(int number, Supplier<T> reader) {
        try {
            return PushCryptException.reading("malformed", "it", reader);
        } catch (PushCryptException e) {
            throw new PushCryptException(e.code(), "row " + number + ": " + e.reason(), new Row(number), e);
        }
    }
    private static <T> T fail(String code, String reason) { throw new PushCryptException(code, reason); }
    private static List<Key> readSealed(Obj last, KeysetLog log, byte[] history, List<String> command, boolean isUnlocked) {
        SEALED.fits(last);
        Obj sealed = (Obj) last.get("sealed");
        // The wrapped key of a command; none of a passphrase, for which the platform has no scrypt.
        Map<String, Optional<byte[]>> locks = new LinkedHashMap<>();
        for (Object one : sealed.list("locks", 1, 8)) {
            Obj lock = (Obj) one, scrypt = lock.members("passphrase");
            boolean isTooLarge = !scrypt.isEmpty() && 128 * scrypt.integer("n", 0, 1 << 20) * scrypt.integer("r", 0, 32) > 1 << 30;
            Optional<byte[]> wrapped = lock.has("command") ? Optional.of(lock.bytes("key", 0)) : Optional.empty();
            if (locks.put(lock.string("name"), wrapped) != null || isTooLarge) throw new Flaw("two secrets have one name, or scrypt would need more than 1 GiB");
        }
        if (!isUnlocked) return List.of();
        byte[] dataKey = open(keysetKey(locks, command), sealed.bytes("dataKey", 60), Bytes.utf8("pushcrypt/1 data key"));
        byte[] aad = Bytes.concat(Envelope.label(" keyset"), Bytes.utf8(sealed.raw("locks")), new byte[1], history);
        Obj opened = Json.parse(open(dataKey, sealed.bytes("keys", 0), aad));
        OPENED.fits(opened);
        if (!MessageDigest.isEqual(Bytes.hmac(opened.bytes("history", 32), history), last.bytes("mac", 32))) fail("notAuthentic", "the mac isn't that of the rows");
        // Otherwise one who has a secret could add another one that no line shows.
        if (!locks.keySet().equals(log.secrets)) fail("otherSecrets", "the names of the secrets aren't those of the log");
        return readMaterial((List<?>) opened.get("keys"), log);
    }
    private static byte[] keysetKey(Map<String, Optional<byte[]>> locks, List<String> command) {
        List<byte[]> wrapped = locks.values().stream().flatMap(Optional::stream).toList();
        if (wrapped.isEmpty()) fail("secretNeeded", "the keys are encrypted under a passphrase, for which Java has no scrypt: add a wrap command to the keyset, or "
                + "seal with the sidecar, pushcrypt seal --stream (docs/sidecar.md)");
        if (command.isEmpty()) fail("secretNeeded", "the keys are encrypted: give the command that unwraps their key");
        for (byte[] one : wrapped.subList(1, wrapped.size())) {
            try {
                return KeysetSecrets.unwrap(command, one);
            } catch (PushCryptException e) {
                // Another command may unwrap its key.
            }
        }
        return KeysetSecrets.unwrap(command, wrapped.get(0));
    }
    /** ENC(key, aad, text) = nonce(12) ‖ AES-256-GCM(key, nonce, aad, text) */
    private static byte[] open(byte[] key, byte[] sealed, byte[] aad) {
        try {
            return Bytes.aesGcm(Cipher.DECRYPT_MODE, key, Arrays.copyOf(sealed, 12), aad, Arrays.copyOfRange(sealed, 12, sealed.length));
        } catch (GeneralSecurityException e) {
            return fail("notAuthentic", "the keyset was changed after it was encrypted");
        }
    }
    /** The private key of every key of the log that has material, and no other. */
    private static List<Key> readMaterial(List<?> jwks, KeysetLog log) {
        List<Key> keys = jwks.stream().map(jwk -> KeysetLog.record(jwk, true)).toList();
        List<String> expected = log.keys.values().stream().filter(KeysetLog.LoggedKey::hasMaterial).map(KeysetLog.LoggedKey::kid).sorted().toList();
        if (!keys.stream().map(key -> key.kid()).sorted().toList().equals(expected)) fail("otherKeys", "a key is missing, or there is one too many");
        for (Key key : keys) {
            KeysetLog.LoggedKey logged = log.keys.get(key.kid());
            if (key.device() != null) throw new Flaw("key " + key.kid() + " is that of a device");
            boolean isSame = Objects.equals(key.type() == KeyType.SHARED ? null : key.publicHalf(false), logged.key());
            if (!isSame || key.secret() == null || (key.psk() != null) != logged.hasPsk()) fail("otherKeys", "key " + key.kid() + " isn't that of the log, or lacks a secret");
        }
        return keys;
    }
}
