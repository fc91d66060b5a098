package io.github.pushcrypt;

import static io.github.pushcrypt.Bytes.*;

import java.security.*;

/** The sealed bytes: context binding, the signature and the encryption (PROTOCOL sections 3 and 4). */
final class Envelope {
    static final int SIGNATURE_SIZE = 64;
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
        int header = key.type() == KeyType.SHARED ? SharedKeys.SALT_SIZE : key.type() == KeyType.XWING ? XWing.ENC_SIZE : key.type().size;
        return header + TAG_SIZE + (isSigned ? SIGNATURE_SIZE : 0);
    }
    /** "pushcrypt/1 signature" ‖ 0x00 ‖ info ‖ R ‖ message */
    static byte[] signedBytes(Key key, byte[] info, byte[] message) {
        byte[] recipient = key.type() == KeyType.SHARED ? SharedKeys.recipient(key) : sha256(key.publicBytes());
        return concat(label(" signature"), info, recipient, message);
    }
    /** {@code sealed}: enc or salt, and the encryption of signature(64) ‖ message, or of the message alone. */
    static byte[] seal(Key key, Key signer, String topic, byte[] message, boolean isChallenge) {
        byte[] info = info(key, signer, topic, isChallenge);
        byte[] plaintext = signer == null ? message : concat(crypto(() -> sign(signer, signedBytes(key, info, message))), message);
        if (key.type() == KeyType.SHARED) return SharedKeys.encrypt(key, info, random(SharedKeys.SALT_SIZE), plaintext);
        Hpke.Encapsulation encapsulation = crypto(() -> key.type() == KeyType.XWING ? XWing.encap(key.publicBytes())
                : Hpke.of(key.type()).encap(key.publicBytes(), key.type().generate()));
        return concat(encapsulation.enc(), encrypt(key, encapsulation.sharedSecret(), info, plaintext));
    }
    /** psk_id is the 11 bytes of {@code kid}. */
    static byte[] encrypt(Key key, byte[] sharedSecret, byte[] info, byte[] plaintext) {
        byte[] psk = key.psk() == null ? EMPTY : key.psk(), pskId = key.psk() == null ? EMPTY : utf8(key.kid());
        Hpke.MessageKey message = Hpke.of(key.type()).keySchedule(sharedSecret, info, psk, pskId);
        return Bytes.encrypt(message.key(), message.nonce(), EMPTY, plaintext);
    }
    private static byte[] sign(Key signer, byte[] text) throws GeneralSecurityException {
        Signature signature = Signature.getInstance("Ed25519");
        signature.initSign(signer.type().privateKey(signer.secret()));
        signature.update(text);
        return signature.sign();
    }
}
