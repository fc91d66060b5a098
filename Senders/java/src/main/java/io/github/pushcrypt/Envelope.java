package io.github.pushcrypt;

import static io.github.pushcrypt.Bytes.*;

import java.util.Arrays;

/** The sealed bytes: context binding, the signature and the encryption (PROTOCOL sections 3 and 4). */
final class Envelope {
    private static final int SIGNATURE_SIZE = 64, SALT_SIZE = 16;
    /** The beginning of what is hashed or signed, with the zero byte behind it. */
    static byte[] label(String purpose) { return utf8("pushcrypt/1" + purpose + "\0"); }
    /** {@code info}. Profile: bit 0 psk, bit 1 signed, bit 2 challenge. */
    static byte[] info(Key key, Key signer, String topic, boolean isChallenge) {
        int profile = (key.psk() != null ? 1 : 0) | (signer != null ? 2 : 0) | (isChallenge ? 4 : 0);
        byte[] numbers = {(byte) key.type().suite, (byte) profile};
        return concat(label(""), numbers, lp16(key.kid()), lp16(signer != null ? signer.kid() : ""), lp16(topic));
    }
    /** Whether the proof of section 11 isn't 0: only one who has a secret or the signing key can seal the message. */
    static boolean provesSender(Key key, boolean isSigned) { return isSigned || key.psk() != null || key.type() == KeyType.SHARED; }
    /** The bytes that sealing adds to a message: enc or salt, the tag and the signature. */
    static int overhead(Key key, boolean isSigned) {
        int header = key.type() == KeyType.SHARED ? SALT_SIZE : key.type() == KeyType.XWING ? XWing.ENC_SIZE : key.type().size;
        return header + TAG_SIZE + (isSigned ? SIGNATURE_SIZE : 0);
    }
    /** "pushcrypt/1 signature" ‖ 0x00 ‖ info ‖ R ‖ message. R of a day key is that of its record. */
    static byte[] signedBytes(Key key, byte[] info, byte[] message) {
        boolean isShared = key.type() == KeyType.SHARED;
        byte[] publicBytes = key.owner() == null ? key.publicBytes() : key.owner().publicBytes();
        byte[] recipient = isShared ? hmac(key.secret(), utf8("pushcrypt/1 recipient")) : sha256(publicBytes);
        return concat(label(" signature"), info, recipient, message);
    }
    /** {@code sealed}: enc or salt, and the encryption of signature(64) ‖ message, or of the message alone. */
    static byte[] seal(Key key, Key signer, String topic, byte[] message, boolean isChallenge) {
        byte[] info = info(key, signer, topic, isChallenge);
        byte[] signature = signer == null ? EMPTY : crypto(() -> signer.type().sign(signer.secret(), signedBytes(key, info, message)));
        byte[] plaintext = concat(signature, message);
        if (key.type() == KeyType.SHARED) return encryptShared(key, info, random(SALT_SIZE), plaintext);
        Hpke.Encapsulation encapsulation = crypto(() -> key.type() == KeyType.XWING ? XWing.encap(key.publicBytes())
                : Hpke.of(key.type()).encap(key.publicBytes(), key.type().generate()));
        return concat(encapsulation.enc(), encrypt(key, encapsulation.sharedSecret(), info, plaintext));
    }
    /** Suites 1 to 3. psk_id is the 11 bytes of {@code kid}. */
    static byte[] encrypt(Key key, byte[] sharedSecret, byte[] info, byte[] plaintext) {
        byte[] psk = key.psk() == null ? EMPTY : key.psk(), pskId = key.psk() == null ? EMPTY : utf8(key.kid());
        Hpke.MessageKey message = Hpke.of(key.type()).keySchedule(sharedSecret, info, psk, pskId);
        return Bytes.encrypt(message.key(), message.nonce(), EMPTY, plaintext);
    }
    /** Suite 4: salt(16) ‖ ct. With a salt that isn't fresh, two messages would have one key and nonce. */
    static byte[] encryptShared(Key key, byte[] info, byte[] salt, byte[] plaintext) {
        byte[] okm = expand(hmac(salt, key.secret()), info, 44);
        return concat(salt, Bytes.encrypt(Arrays.copyOf(okm, 32), Arrays.copyOfRange(okm, 32, 44), EMPTY, plaintext));
    }
}
