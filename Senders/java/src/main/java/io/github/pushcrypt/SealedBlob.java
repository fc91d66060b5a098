package io.github.pushcrypt;

import io.github.pushcrypt.PushCryptException.Flaw;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.regex.Pattern;

/** An encrypted file (PROTOCOL section 7). Upload its bytes, and don't store the key of its reference beside them. */
public final class SealedBlob {
    private static final int CHUNK = 65_536, PAGE = 4_096, ATTACHMENT = 1, PAYLOAD = 2;
    private static final String NAME = "[a-z0-9][a-z0-9.+_-]{0,63}";
    private static final Pattern TYPE = Pattern.compile(NAME + "/" + NAME), ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Pattern URL = Pattern.compile("https://(?![A-Za-z0-9.-]{254})[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*(?::([0-9]{1,5}))?"
            + "(?:[/?](?:[A-Za-z0-9._~:/?\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*+)?");
    private final byte[] bytes;
    private final String key;
    private final long size;
    /** The reference to a file in a message. {@code key} is a secret, {@code id} may be null, and an avatar is the sender's picture. */
    public record Attachment(String url, String key, long size, String sha256, String type, String id, boolean isAvatar) {
        Map<String, Object> members() {
            Map<String, Object> members = reference(url, key, size, sha256, 1L << 48);
            boolean isRight = TYPE.matcher(type).matches() && (id == null || ID.matcher(id).matches());
            if (!isRight) throw new Flaw("an attachment's type isn't a MIME type in lower case, or its id not 1 to 64 characters of A-Z, a-z, 0-9, _ and -");
            members.put("type", type);
            if (id != null) members.put("id", id);
            if (isAvatar) members.put("use", "avatar");
            return members;
        }
        @Override public String toString() { return "Attachment of " + size + " bytes"; }
    }
    /** The reference to a payload that doesn't fit into a push (PROTOCOL section 6). {@code key} is a secret. */
    public record Offload(String url, String key, long size, String sha256) {
        Map<String, Object> members() { return reference(url, key, size, sha256, Payload.MAX_SIZE); }
        @Override public String toString() { return "Offload of " + size + " bytes"; }
    }
    private SealedBlob(int purpose, byte[] plaintext) {
        byte[] fresh = Bytes.random(32);
        bytes = seal(fresh, purpose, plaintext);
        key = Bytes.base64(fresh);
        size = plaintext.length;
    }
    /** Encrypts a file under a fresh key. */
    public static SealedBlob ofFile(byte[] file) { return new SealedBlob(ATTACHMENT, file); }
    /** Encrypts a payload under a fresh key, padded to a multiple of 4 KiB. Throws {@link PushCryptException}: {@code invalidPayload}. */
    public static SealedBlob ofPayload(String json) {
        byte[] text = PushCryptException.reading("invalidPayload", "the payload to offload", () -> Bytes.utf8(Payload.read(Bytes.utf8(json)).root().text));
        return new SealedBlob(PAYLOAD, Bytes.padded(text, (text.length + PAGE - 1) / PAGE * PAGE));
    }
    /** "PCB1" and the chunks. A second blob under one key would have the same nonces. */
    static byte[] seal(byte[] key, int purpose, byte[] plaintext) {
        byte[] magic = Bytes.utf8("PCB1");
        ByteArrayOutputStream blob = new ByteArrayOutputStream();
        blob.writeBytes(magic);
        for (int at = 0; at == 0 || at < plaintext.length; at += CHUNK) {
            int end = Math.min(at + CHUNK, plaintext.length);
            // A counter of 88 bits, and 1 for the last chunk.
            byte[] nonce = ByteBuffer.allocate(12).putInt(7, at / CHUNK).put(11, (byte) (end == plaintext.length ? 1 : 0)).array();
            blob.writeBytes(Bytes.encrypt(key, nonce, Bytes.concat(magic, new byte[] {(byte) purpose}), Arrays.copyOfRange(plaintext, at, end)));
        }
        return blob.toByteArray();
    }
    /** The checked members of a reference to a blob whose plaintext has at most {@code limit} bytes. */
    private static Map<String, Object> reference(String url, String key, long size, String sha256, long limit) {
        var match = URL.matcher(url.length() <= 2_048 ? url : "");
        boolean isUrl = match.matches();
        int port = isUrl && match.group(1) != null ? Integer.parseInt(match.group(1)) : 443;
        if (!isUrl || port < 1 || port > 65_535) throw new Flaw("the URL of a blob isn't an https URL of at most 2,048 characters, escaped as RFC 3986 requires");
        if (size < 0 || size > limit) throw new Flaw("the size of a blob isn't 0 to " + limit);
        Bytes.base64(key, 32, "the key of a blob");
        Bytes.base64(sha256, 32, "the sha256 of a blob");
        return Json.map("url", url, "key", key, "size", size, "sha256", sha256);
    }
    /** The bytes to upload. */
    public byte[] bytes() { return bytes.clone(); }
    private String sha256() { return Bytes.base64(Bytes.sha256(bytes)); }
    /** The reference to a file at its https address, with its MIME type. */
    public Attachment attachment(String url, String type) { return new Attachment(url, key, size, sha256(), type, null, false); }
    /** The reference to the picture of the message's sender. */
    public Attachment avatar(String url, String type) { return new Attachment(url, key, size, sha256(), type, null, true); }
    /** The reference to a payload at its https address. */
    public Offload offload(String url) { return new Offload(url, key, size, sha256()); }
}
