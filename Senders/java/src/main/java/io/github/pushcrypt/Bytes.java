package io.github.pushcrypt;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.security.*;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import javax.crypto.*;
import javax.crypto.spec.*;

/** Bytes: their encodings, and the symmetric primitives of the Java platform. */
final class Bytes {
    static final SecureRandom RANDOM = new SecureRandom();
    static final byte[] EMPTY = {};
    static final int TAG_SIZE = 16;
    private static final Pattern BASE64 = Pattern.compile("(?:[A-Za-z0-9_-]{4})*+(?:[A-Za-z0-9_-]{2,3})?");
    static byte[] random(int size) {
        byte[] bytes = new byte[size];
        RANDOM.nextBytes(bytes);
        return bytes;
    }
    static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) all.writeBytes(part);
        return all.toByteArray();
    }
    /** The text with spaces behind it. */
    static byte[] padded(byte[] text, int size) { return concat(text, utf8(" ".repeat(size - text.length))); }
    static byte[] u16(int value) { return new byte[] {(byte) (value >> 8), (byte) value}; }
    /** The UTF-8 bytes of a text without lone surrogates, which {@code String.getBytes} would replace. */
    static byte[] utf8(String text) {
        byte[] bytes = text.getBytes(UTF_8);
        Flaw.unless(new String(bytes, UTF_8).equals(text), "it has a lone surrogate");
        return bytes;
    }
    /** The text of bytes that are UTF-8. {@code new String} would replace others. */
    static String text(byte[] utf8) {
        String text = new String(utf8, UTF_8);
        Flaw.unless(Arrays.equals(text.getBytes(UTF_8), utf8), "it isn't UTF-8");
        return text;
    }
    /** The length of a text as an unsigned 16-bit integer, then its UTF-8 bytes. */
    static byte[] lp16(String text) { return concat(u16(utf8(text).length), utf8(text)); }
    static String base64(byte[] bytes) { return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes); }
    /** The bytes of canonical base64url (RFC 4648 section 5). A {@code size} of 0 is one of 1 or more. */
    static byte[] base64(Object value, int size, String name) {
        byte[] bytes = value instanceof String text && BASE64.matcher(text).matches() ? Base64.getUrlDecoder().decode(text) : EMPTY;
        boolean isRight = bytes.length > 0 && (size == 0 || bytes.length == size) && base64(bytes).equals(value);
        Flaw.unless(isRight, name + " isn't " + (size == 0 ? "" : size + " bytes of ") + "base64url without padding");
        return bytes;
    }
    static byte[] sha256(byte[]... parts) { return crypto(() -> MessageDigest.getInstance("SHA-256").digest(concat(parts))); }
    static byte[] hmac(byte[] key, byte[]... parts) {
        return crypto(() -> {
            Mac mac = Mac.getInstance("HmacSHA256");
            // HMAC fills a key with zeros, so one zero byte is the empty key, which SecretKeySpec refuses.
            mac.init(new SecretKeySpec(key.length == 0 ? new byte[1] : key, "HmacSHA256"));
            for (byte[] part : parts) mac.update(part);
            return mac.doFinal();
        });
    }
    /** HKDF-Expand of RFC 5869 section 2.3: T(n) = HMAC(prk, T(n - 1) ‖ info ‖ n). */
    static byte[] expand(byte[] prk, byte[] info, int length) {
        byte[] found = EMPTY, block = EMPTY;
        for (byte n = 1; found.length < length; n++) found = concat(found, block = hmac(prk, block, info, new byte[] {n}));
        return Arrays.copyOf(found, length);
    }
    static byte[] aesGcm(int mode, byte[] key, byte[] nonce, byte[] aad, byte[] text) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(8 * TAG_SIZE, nonce));
        cipher.updateAAD(aad);
        return cipher.doFinal(text);
    }
    static byte[] encrypt(byte[] key, byte[] nonce, byte[] aad, byte[] text) {
        return crypto(() -> aesGcm(Cipher.ENCRYPT_MODE, key, nonce, aad, text));
    }
    /** Runs a step that fails only if the platform lacks an algorithm or random bytes. */
    static <T> T crypto(Callable<T> step) {
        try {
            return step.call();
        } catch (Exception e) {
            throw e instanceof RuntimeException known ? known
                    : new PushCryptException("backendFailure", "the cryptography of the platform failed", Map.of(), e);
        }
    }
}
