package io.github.pushcrypt;

import java.security.*;
import java.util.Arrays;
import javax.crypto.KEM;

/** X-Wing of ML-KEM-768 and X25519 (suite 3, draft-connolly-cfrg-xwing-kem), on platforms that have ML-KEM: Java 24 or later. */
final class XWing {
    static final int ENC_SIZE = 1_120;
    /** FIPS 203 section 7.2: of the 1,184 bytes, the last 32 aren't coefficients of 12 bits. */
    private static final int MLKEM_SIZE = 1_184, COEFFICIENTS_SIZE = 1_152, Q = 3_329;

    /** Whether the coefficients of the ML-KEM half are below q. Throws {@link PushCryptException} with {@code unsupportedSuite}. */
    static boolean isReduced(byte[] key, byte[] seed) {
        Flaw.unless(seed == null, "unsupportedSuite", "the platform can't expand the seed of a private X-Wing key");
        kem();
        for (int at = 0; at < COEFFICIENTS_SIZE; at += 3) {
            int low = key[at] & 0xFF | (key[at + 1] & 0x0F) << 8, high = (key[at + 1] & 0xF0) >> 4 | (key[at + 2] & 0xFF) << 4;
            if (low >= Q || high >= Q) return false;
        }
        return true;
    }

    /** The X25519 half. */
    static byte[] half(byte[] key) { return Arrays.copyOfRange(key, MLKEM_SIZE, key.length); }

    private static KEM kem() {
        try {
            return KEM.getInstance("ML-KEM-768");
        } catch (NoSuchAlgorithmException | LinkageError e) {
            throw new PushCryptException("unsupportedSuite", "suite 3 needs ML-KEM-768, which Java has from version 24 on");
        }
    }

    // 5.4. Encapsulate(pk): ct = ct_M ‖ ct_X, and 5.3. ss = SHA3-256(ss_M ‖ ss_X ‖ ct_X ‖ pk_X ‖ XWingLabel)
    static Hpke.Encapsulation encap(byte[] key) throws GeneralSecurityException {
        KEM.Encapsulated mlkem = kem().newEncapsulator(KeyType.XWING.publicKey(Arrays.copyOf(key, MLKEM_SIZE)), Bytes.RANDOM).encapsulate();
        KeyPair ephemeral = KeyType.X25519.generate();
        byte[] share = KeyType.X25519.serialised(ephemeral.getPublic());
        byte[] secret = Hpke.dh(KeyType.X25519, ephemeral.getPrivate(), KeyType.X25519.publicKey(half(key)));
        byte[] combined = Bytes.concat(mlkem.key().getEncoded(), secret, share, half(key), Bytes.utf8("\\.//^\\"));
        return new Hpke.Encapsulation(MessageDigest.getInstance("SHA3-256").digest(combined), Bytes.concat(mlkem.encapsulation(), share));
    }
}
