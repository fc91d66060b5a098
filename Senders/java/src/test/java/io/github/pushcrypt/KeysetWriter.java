package io.github.pushcrypt;

import java.io.ByteArrayOutputStream;
import java.nio.file.*;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.*;

/** Writes the files of keysets for tests (docs/keyset-log.md). */
final class KeysetWriter {
    static final byte[] WRAPPED = "wrapped key".getBytes();
    final List<byte[]> rows = new ArrayList<>();
    private final List<Key> keys = new ArrayList<>();
    private long n;
    private byte[] prev = new byte[32];

    KeysetWriter() {}

    KeysetWriter(KeysetWriter other) {
        rows.addAll(other.rows);
        keys.addAll(other.keys);
        n = other.n;
        prev = other.prev;
    }

    /** Adds a line with these members beside n, prev, at, who and what. */
    KeysetWriter line(String at, String what, Object... members) {
        Map<String, Object> line = Json.map("n", ++n, "at", at, "who", "alice", "what", what, "prev", Bytes.base64(prev));
        line.putAll(Json.map(members));
        byte[] row = Json.write(line).getBytes();
        rows.add(row);
        prev = Bytes.sha256(row);
        return this;
    }

    /** The change of a line that adds the key. */
    Map<String, Object> adding(Key key, Object... times) {
        keys.add(key);
        Map<String, Object> change = Json.map("jwk", publicRecord(key));
        change.putAll(Json.map(times));
        return Json.map(key.kid(), change);
    }

    void forget(String kid) { keys.removeIf(key -> key.kid().equals(kid)); }

    private static Map<String, String> publicRecord(Key key) { return new Key(key.type(), null, key.publicBytes(), null, null, null, key.isPublisher()).record(true); }

    byte[] history() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] row : rows) all.writeBytes(Bytes.concat(row, "\n".getBytes()));
        return all.toByteArray();
    }

    private String jwks() { return Json.write(keys.stream().map(key -> key.record(true)).toList()); }

    byte[] plain() {
        String digest = Bytes.base64(Bytes.sha256(history(), jwks().getBytes()));
        return Bytes.concat(history(), ("{\"v\":1,\"keys\":" + jwks() + ",\"digest\":\"" + digest + "\"}\n").getBytes());
    }

    static byte[] enc(byte[] key, String aad, byte[] text) {
        byte[] nonce = Bytes.random(12);
        return Bytes.concat(nonce, Bytes.encrypt(key, nonce, aad.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1), text));
    }

    /** With the locks' JSON, of which one is a command. */
    byte[] sealed(byte[] keysetKey, String locks) {
        byte[] dataKey = Bytes.random(32), historyKey = Bytes.random(32);
        byte[] text = ("{\"keys\":" + jwks() + ",\"history\":\"" + Bytes.base64(historyKey) + "\"}").getBytes();
        byte[] nonce = Bytes.random(12), aad = Bytes.concat("pushcrypt/1 keyset\0".getBytes(), locks.getBytes(), new byte[1], history());
        byte[] sealedKeys = Bytes.concat(nonce, Bytes.encrypt(dataKey, nonce, aad, text));
        String last = "{\"v\":1,\"sealed\":{\"locks\":" + locks + ",\"dataKey\":\"" + Bytes.base64(enc(keysetKey, "pushcrypt/1 data key", dataKey)) + "\",\"keys\":\"" + Bytes.base64(sealedKeys)
                + "\"},\"mac\":\"" + Bytes.base64(Bytes.hmac(historyKey, history())) + "\"}\n";
        return Bytes.concat(history(), last.getBytes());
    }

    static String commandLock(String name) { return "{\"name\":\"" + name + "\",\"command\":true,\"key\":\"" + Bytes.base64(WRAPPED) + "\"}"; }

    /** A file that only its owner can open, which replaces another in one step. */
    static Path write(Path file, byte[] bytes) throws Exception {
        Path next = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(next);
        Files.createFile(next, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.write(next, bytes);
        return Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }
}
