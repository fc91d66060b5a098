package io.github.pushcrypt;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.regex.*;

/** An encrypted file (PROTOCOL section 7). Upload its bytes, and don't store the key of its reference beside them. */
public final class SealedBlob {
    private static final int CHUNK = 65_536, PAGE = 4_096, ATTACHMENT = 1, PAYLOAD = 2;
    private static final Pattern TYPE = Pattern.compile("[a-z0-9][a-z0-9.+_-]{0,63}/[a-z0-9][a-z0-9.+_-]{0,63}");
    private static final Pattern URL = Pattern.compile("https://(?![A-Za-z0-9.-]{254})[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*(?::([0-9]{1,5}))?"
            + "(?:[/?](?:[A-Za-z0-9._~:/?\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*+)?");
    private final int purpose;
    private final byte[] key, bytes;
    private final long size;
    /**
     * The reference to a blob in a message, at its https address. {@code key} is a secret, {@code size} that of the plaintext in bytes.
     * {@code setsBadge} says that it is a payload with {@code aps.badge}: the message doesn't tell.
     */
    public record Reference(String url, String key, long size, String sha256, boolean setsBadge) {
        /** The reference of a message. */
        public Reference(String url, String key, long size, String sha256) { this(url, key, size, sha256, false); }
        /** The checked members; the plaintext may have {@code limit} bytes. */
        Map<String, Object> members(long limit) {
            Matcher match = URL.matcher(url);
            int port = match.matches() && match.group(1) != null ? Integer.parseInt(match.group(1)) : 443;
            boolean isUrl = match.matches() && url.length() <= 2_048 && port >= 1 && port <= 65_535;
            Flaw.unless(isUrl, "the URL of a blob isn't an https URL of at most 2,048 characters, escaped as RFC 3986 requires");
            Flaw.unless(size >= 0 && size <= limit, "the size of a blob isn't 0 to " + limit);
            Bytes.base64(key, 32, "the key of a blob");
            Bytes.base64(sha256, 32, "the sha256 of a blob");
            return Json.map("url", url, "key", key, "size", size, "sha256", sha256);
        }
        @Override public String toString() { return "Reference to a blob of " + size + " bytes"; }
    }
    /** The reference to a file with its MIME type. {@code id} may be null, and an avatar is the sender's picture. */
    public record Attachment(Reference blob, String type, String id, boolean isAvatar) {
        Map<String, Object> members() {
            Map<String, Object> members = blob.members(1L << 48);
            Flaw.unless(TYPE.matcher(type).matches(), "the type of an attachment isn't a MIME type in lower case");
            Flaw.unless(id == null || Key.isId(id), "the id of an attachment isn't 1 to 64 characters of A-Z, a-z, 0-9, _ and -");
            members.put("type", type);
            if (id != null) members.put("id", id);
            if (isAvatar) members.put("use", "avatar");
            return members;
        }
    }
    private final boolean setsBadge;
    private SealedBlob(int purpose, byte[] plaintext, boolean setsBadge) {
        this.purpose = purpose;
        this.setsBadge = setsBadge;
        key = Bytes.random(32);
        bytes = seal(key, purpose, plaintext);
        size = plaintext.length;
    }
    /** Encrypts a file under a fresh key. */
    public static SealedBlob ofFile(byte[] file) { return new SealedBlob(ATTACHMENT, file, false); }
    /** Encrypts a payload under a fresh key, padded to a multiple of 4 KiB. Throws {@link PushCryptException}: {@code invalidPayload}. */
    public static SealedBlob ofPayload(String json) {
        Payload payload = Payload.read(json);
        byte[] text = Bytes.utf8(payload.root().text);
        return new SealedBlob(PAYLOAD, Bytes.padded(text, (text.length + PAGE - 1) / PAGE * PAGE), payload.aps().has("badge"));
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
    /** The bytes to upload. */
    public byte[] bytes() { return bytes.clone(); }
    /** The reference to a file at its https address, with its MIME type. */
    public Attachment attachment(String url, String type) { return new Attachment(reference(ATTACHMENT, url), type, null, false); }
    /** The reference to the picture of the message's sender. */
    public Attachment avatar(String url, String type) { return new Attachment(reference(ATTACHMENT, url), type, null, true); }
    /** The reference to a payload at its https address. */
    public Reference offload(String url) { return reference(PAYLOAD, url); }
    /** A blob of another purpose would never open. */
    private Reference reference(int wanted, String url) {
        Flaw.unless(purpose == wanted, "invalidOption", "a sealed payload can't be attached, and a sealed file isn't an offloaded payload");
        return new Reference(url, Bytes.base64(key), size, Bytes.base64(Bytes.sha256(bytes)), setsBadge);
    }
}
