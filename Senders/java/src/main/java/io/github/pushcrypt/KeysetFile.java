package io.github.pushcrypt;

import static io.github.pushcrypt.Form.*;
import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.github.pushcrypt.Json.Obj;
import java.io.*;
import java.nio.file.*;
import java.security.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.Stream;
import javax.crypto.Cipher;

/** The file of a keyset: its log and its keys (docs/keyset-log.md). */
public final class KeysetFile {
    static final int MAX_SIZE = 4 << 20, KEY_SIZE = 32;
    private static final long TIMEOUT = TimeUnit.MINUTES.toNanos(2);
    private static final Path SELF = Path.of("/proc/self");
    private static final Form PLAIN = object("v", ANY, "keys", ARRAY, "digest", base64(32)), OPENED = object("keys", ARRAY, "history", base64(32));
    private static final Form COST = value -> integer(2, 1 << 20).fits(value) && Long.bitCount(((Json.Num) value).integer()) == 1;
    private static final Form SCRYPT = object("n", COST, "r", integer(1, 32), "p", integer(1, 16), "salt", base64(16), "check", base64(16));
    private static final Form PASSPHRASE = object("name", NAME, "passphrase", SCRYPT, "key", base64(60)), WRAPPED = sized(1, 4_096);
    private static final Form COMMAND = object("name", NAME, "command", TRUE, "key", WRAPPED);
    private static final Form LOCK = value -> (value instanceof Obj entry && entry.has("command") ? COMMAND : PASSPHRASE).fits(value);
    private static final Form SEALED = object("v", ANY, "mac", base64(32), "sealed",
            object("locks", list(LOCK, 1, 8, false), "dataKey", base64(60), "keys", sized(28, MAX_SIZE)));
    final KeysetLog log;
    private final Keyset keyset;
    /** The number and the hash (base64url) of a line of the log. Store that of the last line that you have seen. */
    public record Point(long n, String hash) {}
    private KeysetFile(KeysetLog log, List<Key> material) {
        this.log = log;
        keyset = new Keyset(material.stream().map(log::entry).toList(), log.kind, log.head.n(), log.at);
    }
    /** Reads a keyset whose keys are in clear. See {@link #read(Path, List)}. */
    public static KeysetFile read(Path file) { return read(file, List.of()); }
    /**
     * Reads a keyset whose keys a command unwraps (docs/keyset-log.md): a program and its arguments, to which {@code unwrap} is appended, without
     * a shell. The keys authenticate the file. Refuses it with a code of that page and the row, with secretNeeded also if only a passphrase opens
     * the keys; and with notFound, inputOutput, looseMode, foreignOwner or wrapCommandFailed.
     */
    public static KeysetFile read(Path file, List<String> command) {
        try {
            Flaw.unless(Files.exists(file), "notFound", "there is no file " + file);
            // Links are followed once. A pipe of a shell has no path behind the link.
            boolean isPipe = isPipe(attributes(file));
            Path real = isPipe ? file : file.toRealPath();
            Map<String, Object> before = attributes(real);
            checkAttributes(real, before);
            OpenOption[] how = isPipe ? new OpenOption[0] : new OpenOption[] {LinkOption.NOFOLLOW_LINKS};
            // readNBytes of the stream itself seeks, which a pipe can't.
            try (InputStream text = new DataInputStream(Files.newInputStream(real, how))) {
                byte[] data = text.readNBytes(MAX_SIZE + 1);
                Flaw.unless(isPipe || attributes(real).equals(before), "inputOutput", "the keyset was replaced while it was read");
                return parse(data, command);
            }
        } catch (IOException e) {
            throw new PushCryptException("inputOutput", "the keyset can't be read", Map.of(), e);
        }
    }
    /** The point of the last line of the log. */
    public Point head() { return log.head; }
    /** The keys with their times. The private halves of recipients' keys are left out. */
    public Keyset keyset() { return keyset; }
    /** Refuses another keyset, and an older log than was seen: {@code olderThanHistory}. If none was seen, {@code seen} is null. */
    public KeysetFile requireAfter(Point seen) {
        Flaw.unless(seen == null || log.points.contains(seen), "olderThanHistory", log.id + " doesn't have the line that was seen before");
        return this;
    }
    boolean isRevoked(String kid) { return log.isRevoked(kid); }
    static KeysetFile parse(byte[] data, List<String> command) {
        int[] row = {0};
        try {
            return Flaw.coded("malformed", "it", () -> parse(data, command, row));
        } catch (PushCryptException e) {
            throw new PushCryptException(e.code(), "row " + row[0] + ": " + e.reason(), Map.of("row", row[0]), e);
        }
    }
    private static KeysetFile parse(byte[] data, List<String> command, int[] row) {
        Flaw.unless(data.length <= MAX_SIZE, "tooLarge", "the file has more than 4 MiB");
        Flaw.unless(data.length > 0 && data[data.length - 1] == '\n', "incomplete", "the file is empty, or its end is missing");
        String[] texts = new String(data, 0, data.length - 1, ISO_8859_1).split("\n", -1);
        List<byte[]> rows = Stream.of(texts).map(one -> one.getBytes(ISO_8859_1)).toList();
        int number = row[0] = rows.size();
        byte[] lastRow = rows.get(number - 1), history = Arrays.copyOf(data, data.length - lastRow.length - 1);
        Obj last = Json.parse(Bytes.text(lastRow), true);
        row[0] = last.has("prev") && !last.has("v") ? 0 : number;
        Flaw.unless(row[0] > 0, "incomplete", "the last row is missing");
        Flaw.unless(last.integer("v", 0, Json.MAX_INTEGER) == 1, "unsupportedVersion", "the file has another version");
        KeysetLog log = log(rows.subList(0, number - 1), row);
        row[0] = number;
        if (last.has("sealed")) return new KeysetFile(log, readSealed(last, log, history, command));
        PLAIN.fits(last);
        byte[] digest = Bytes.sha256(history, Bytes.utf8(last.raw("keys")));
        Flaw.unless(MessageDigest.isEqual(last.bytes("digest", 32), digest), "wrongDigest", "the digest isn't that of the rows and the keys");
        Flaw.unless(command.isEmpty(), "notEncrypted", "the keys are in clear, although a command was given");
        return new KeysetFile(log, readMaterial(last.list("keys", 0, MAX_SIZE), log));
    }
    static KeysetLog log(List<byte[]> rows, int[] row) {
        row[0] = 0;
        Flaw.unless(!rows.isEmpty(), "incomplete", "there is no line");
        KeysetLog log = new KeysetLog();
        for (byte[] one : rows) {
            row[0]++;
            log.add(one);
        }
        return log;
    }
    private static List<Key> readSealed(Obj last, KeysetLog log, byte[] history, List<String> command) {
        SEALED.fits(last);
        Obj sealed = last.members("sealed");
        List<Obj> locks = sealed.list("locks", 1, 8).stream().map(Obj.class::cast).toList();
        Set<String> names = new HashSet<>();
        for (Obj lock : locks) {
            Obj scrypt = lock.members("passphrase");
            Flaw.unless(names.add(lock.string("name")), "two secrets have one name");
            boolean isTooLarge = !scrypt.isEmpty() && 128 * scrypt.integer("n", 0, 1 << 20) * scrypt.integer("r", 0, 32) > 1 << 30;
            Flaw.unless(!isTooLarge, "scrypt would need more than 1 GiB");
            boolean isDefined = scrypt.isEmpty() || Long.numberOfTrailingZeros(scrypt.integer("n", 0, 1 << 20)) < 16 * scrypt.integer("r", 0, 32);
            Flaw.unless(isDefined, "scrypt has no n of 2^(16 r) or more (RFC 7914)");
        }
        List<byte[]> wrapped = locks.stream().filter(lock -> lock.has("command")).map(lock -> lock.bytes("key", 0)).toList();
        Flaw.unless(!wrapped.isEmpty(), "secretNeeded", "the keys are encrypted under a passphrase, for which Java has no scrypt: add a wrap "
                + "command to the keyset, or seal with the sidecar, pushcrypt seal --stream (docs/sidecar.md)");
        Flaw.unless(!command.isEmpty(), "secretNeeded", "the keys are encrypted: give the command that unwraps their key");
        byte[] dataKey = open(unwrap(command, wrapped), sealed.bytes("dataKey", 60), Bytes.utf8("pushcrypt/1 data key"));
        byte[] aad = Bytes.concat(Envelope.label(" keyset"), Bytes.utf8(sealed.raw("locks")), new byte[1], history);
        Obj opened = Json.parse(open(dataKey, sealed.bytes("keys", 0), aad));
        OPENED.fits(opened);
        byte[] mac = Bytes.hmac(opened.bytes("history", 32), history);
        Flaw.unless(MessageDigest.isEqual(mac, last.bytes("mac", 32)), "notAuthentic", "the mac isn't that of the rows");
        // Otherwise one who has a secret could add another one that no line shows.
        Flaw.unless(names.equals(log.secrets), "otherSecrets", "the names of the secrets aren't those of the log");
        return readMaterial(opened.list("keys", 0, MAX_SIZE), log);
    }
    /** ENC(key, aad, text) = nonce(12) ‖ AES-256-GCM(key, nonce, aad, text) */
    private static byte[] open(byte[] key, byte[] sealed, byte[] aad) {
        try {
            return Bytes.aesGcm(Cipher.DECRYPT_MODE, key, Arrays.copyOf(sealed, 12), aad, Arrays.copyOfRange(sealed, 12, sealed.length));
        } catch (GeneralSecurityException e) {
            throw new PushCryptException("notAuthentic", "the keyset was changed after it was encrypted");
        }
    }
    /** The private key of every key of the log that has material, and no other. */
    private static List<Key> readMaterial(List<?> jwks, KeysetLog log) {
        List<Key> keys = jwks.stream().map(jwk -> KeysetLog.record(jwk, true)).toList();
        List<String> expected = log.keys.values().stream().filter(KeysetLog.LoggedKey::hasMaterial).map(KeysetLog.LoggedKey::kid).sorted().toList();
        Flaw.unless(keys.stream().map(Key::kid).sorted().toList().equals(expected), "otherKeys", "a key is missing, or there is one too many");
        for (Key key : keys) {
            KeysetLog.LoggedKey logged = log.keys.get(key.kid());
            Flaw.unless(key.device() == null, "key " + key.kid() + " is that of a device");
            boolean isSame = Objects.equals(key.type() == KeyType.SHARED ? null : key.publicHalf(false), logged.key());
            boolean isWhole = isSame && key.secret() != null && (key.psk() != null) == logged.hasPsk();
            Flaw.unless(isWhole, "otherKeys", "key " + key.kid() + " isn't that of the log, or lacks a secret");
        }
        return keys;
    }
    /** What changes when a file is written or replaced. */
    static Map<String, Object> attributes(Path file) throws IOException {
        boolean isUnix = file.getFileSystem().supportedFileAttributeViews().contains("unix");
        return Files.readAttributes(file, isUnix ? "unix:mode,uid,dev,ino,ctime,size,lastModifiedTime" : "size,lastModifiedTime");
    }
    static boolean isPipe(Map<String, Object> attributes) { return ((Integer) attributes.getOrDefault("mode", 0) & 0170000) == 0010000; }
    /** "Files that are only read". */
    private static void checkAttributes(Path file, Map<String, Object> attributes) throws IOException {
        if (!attributes.containsKey("mode") || isPipe(attributes)) return;
        Object owner = attributes.get("uid");
        boolean isRoots = owner.equals(0), isOwn = Files.exists(SELF) ? owner.equals(Files.getAttribute(SELF, "unix:uid"))
                : Files.getOwner(file).getName().equals(System.getProperty("user.name"));
        Flaw.unless(isRoots || isOwn, "foreignOwner", file + " belongs to another user");
        // Of a file of root, its group may read it.
        Flaw.unless(((Integer) attributes.get("mode") & (isRoots ? 0037 : 0077)) == 0, "looseMode", "other users can open " + file);
    }
    /** The keyset key, of the outputs of all wrap commands: this command made one of them. */
    private static byte[] unwrap(List<String> command, List<byte[]> wrapped) {
        PushCryptException failure = null;
        for (byte[] one : wrapped) {
            try {
                return unwrap(command, one);
            } catch (PushCryptException e) {
                failure = e;
            }
        }
        throw failure;
    }
    private static byte[] unwrap(List<String> command, byte[] wrapped) {
        ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(command)).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.command().add("unwrap");
        builder.environment().remove("PUSHCRYPT_PASSPHRASE");
        long end = System.nanoTime() + TIMEOUT;
        Process process = null;
        Set<ProcessHandle> children = new HashSet<>();
        try {
            process = builder.start();
            InputStream output = process.getInputStream();
            FutureTask<byte[]> reading = new FutureTask<>(() -> output.readNBytes(KEY_SIZE + 1));
            Thread reader = new Thread(reading, "pushcrypt-unwrap");
            reader.setDaemon(true);
            reader.start();
            try (OutputStream input = process.getOutputStream()) {
                input.write(wrapped);
            } catch (IOException e) {
                // The program has ended, and its status says why.
            }
            do {
                process.descendants().forEach(children::add);
            } while (!(reading.isDone() && reading.get().length > KEY_SIZE) && System.nanoTime() < end && !process.waitFor(10, TimeUnit.MILLISECONDS));
            boolean isRight = !process.isAlive() && process.exitValue() == 0;
            // One that outlives the command would hold the output open.
            children.forEach(ProcessHandle::destroyForcibly);
            byte[] key = isRight ? reading.get(5, TimeUnit.SECONDS) : Bytes.EMPTY;
            Flaw.unless(key.length == KEY_SIZE, "wrapCommandFailed", "the command didn't write the 32 bytes of a key, or its exit status isn't 0");
            return key;
        } catch (IOException | InterruptedException | ExecutionException | TimeoutException e) {
            if (e instanceof InterruptedException) Thread.currentThread().interrupt();
            throw new PushCryptException("wrapCommandFailed", "the command that unwraps the keyset key failed", Map.of(), e);
        } finally {
            if (process != null) process.descendants().forEach(children::add);
            children.forEach(ProcessHandle::destroyForcibly);
            if (process != null) process.destroyForcibly();
        }
    }
}
