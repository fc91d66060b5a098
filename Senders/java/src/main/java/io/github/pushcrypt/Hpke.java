package io.github.pushcrypt;

import static io.github.pushcrypt.Bytes.*;

import java.security.*;
import javax.crypto.KeyAgreement;

/** The sender's side of HPKE (RFC 9180), modes base and psk, with the KDF HKDF-SHA256. Comments name the RFC's sections. */
record Hpke(KeyType kem, int kemId, int aeadId, int keySize) {
    private static final int KDF_ID = 1, HASH_SIZE = 32, NONCE_SIZE = 12;
    record Encapsulation(byte[] sharedSecret, byte[] enc) {}
    record MessageKey(byte[] key, byte[] nonce) {}
    static Hpke of(KeyType type) {
        return switch (type) {
            case P256 -> new Hpke(type, 0x0010, 2, 32);
            case X25519 -> new Hpke(type, 0x0020, 1, 16);
            case XWING -> new Hpke(type, 0x647A, 2, 32);
            default -> throw new IllegalArgumentException("no suite of HPKE");
        };
    }
    // 4.1. suite_id = concat("KEM", I2OSP(kem_id, 2))
    private byte[] kemSuiteId() { return concat(utf8("KEM"), u16(kemId)); }
    // 5.1. suite_id = concat("HPKE", I2OSP(kem_id, 2), I2OSP(kdf_id, 2), I2OSP(aead_id, 2))
    private byte[] suiteId() { return concat(utf8("HPKE"), u16(kemId), u16(KDF_ID), u16(aeadId)); }
    // 4. LabeledExtract(salt, label, ikm) = Extract(salt, concat("HPKE-v1", suite_id, label, ikm))
    private static byte[] extract(byte[] suiteId, byte[] salt, String label, byte[] ikm) {
        return hmac(salt, utf8("HPKE-v1"), suiteId, utf8(label), ikm);
    }
    // 4. LabeledExpand(prk, label, info, L) = Expand(prk, concat(I2OSP(L, 2), "HPKE-v1", suite_id, label, info), L)
    private static byte[] expand(byte[] suiteId, byte[] prk, String label, byte[] info, int length) {
        return Bytes.expand(prk, concat(u16(length), utf8("HPKE-v1"), suiteId, utf8(label), info), length);
    }
    // 4.1. DH(skX, pkY). 7.1.4. A secret of zeros is refused.
    static byte[] dh(KeyType type, PrivateKey own, PublicKey other) throws GeneralSecurityException {
        KeyAgreement agreement = KeyAgreement.getInstance(type == KeyType.P256 ? "ECDH" : type.algorithm);
        agreement.init(own);
        agreement.doPhase(other, true);
        byte[] secret = agreement.generateSecret();
        if (MessageDigest.isEqual(secret, new byte[secret.length])) throw new GeneralSecurityException("the shared secret is zero");
        return secret;
    }
    // 4.1. Encap(pkR). With an ephemeral key that isn't fresh, two messages would have one key and nonce.
    Encapsulation encap(byte[] recipient, KeyPair ephemeral) throws GeneralSecurityException {
        byte[] enc = kem.serialised(ephemeral.getPublic());
        return new Encapsulation(sharedSecret(dh(kem, ephemeral.getPrivate(), kem.publicKey(recipient)), enc, recipient), enc);
    }
    // 4.1. ExtractAndExpand(dh, concat(enc, pkRm))
    byte[] sharedSecret(byte[] dh, byte[] enc, byte[] recipient) {
        byte[] prk = extract(kemSuiteId(), EMPTY, "eae_prk", dh);
        return expand(kemSuiteId(), prk, "shared_secret", concat(enc, recipient), HASH_SIZE);
    }
    // 5.1. KeySchedule(mode, shared_secret, info, psk, psk_id): mode 1 with a psk, and 0 without one.
    MessageKey keySchedule(byte[] sharedSecret, byte[] info, byte[] psk, byte[] pskId) {
        if ((psk.length == 0) != (pskId.length == 0)) throw new IllegalArgumentException("inconsistent PSK inputs");
        byte[] context = concat(new byte[] {(byte) Math.min(psk.length, 1)}, extract(suiteId(), EMPTY, "psk_id_hash", pskId),
                extract(suiteId(), EMPTY, "info_hash", info));
        byte[] secret = extract(suiteId(), sharedSecret, "secret", psk);
        return new MessageKey(expand(suiteId(), secret, "key", context, keySize), expand(suiteId(), secret, "base_nonce", context, NONCE_SIZE));
    }
}
