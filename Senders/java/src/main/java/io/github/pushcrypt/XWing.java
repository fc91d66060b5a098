package io.github.pushcrypt;

import java.security.*;
import java.util.Arrays;
import javax.crypto.KEM;

/** X-Wing of ML-KEM-768 and X25519 (suite 3, draft-connolly-cfrg-xwing-kem), on platforms that have ML-KEM: Java 24, updates of Java 21. */
final class XWing {
    static final int ENC_SIZE = 1_120;
    private static final int MLKEM_SIZE = 1_184;
    /** Whether the platform takes the ML-KEM half, of which it checks the coefficients (FIPS 203 section 7.2). */
    static boolean isReduced(byte[] key, byte[] seed) throws GeneralSecurityException {
        Flaw.unless(seed == null, "unsupportedSuite", "Java can't expand the seed of a private X-Wing key");
        return encapsulator(key) != null;
    }
    private static KEM.Encapsulator encapsulator(byte[] key) throws GeneralSecurityException {
        try {
            KEM kem = KEM.getInstance("ML-KEM-768");
            return kem.newEncapsulator(KeyType.XWING.publicKey(Arrays.copyOf(key, MLKEM_SIZE)), Bytes.RANDOM);
        } catch (NoSuchAlgorithmException | LinkageError e) {
            throw new PushCryptException("unsupportedSuite", "suite 3 needs ML-KEM-768, which Java has from version 24 on, and in updates of 21");
        }
    }
    /** The X25519 half. */
    static byte[] half(byte[] key) { return Arrays.copyOfRange(key, MLKEM_SIZE, key.length); }
    // 5.4. Encapsulate(pk): ct = ct_M ‖ ct_X, and 5.3. ss = SHA3-256(ss_M ‖ ss_X ‖ ct_X ‖ pk_X ‖ XWingLabel)
    static Hpke.Encapsulation encap(byte[] key) throws GeneralSecurityException {
        KEM.Encapsulated mlkem = encapsulator(key).encapsulate();
        KeyPair ephemeral = KeyType.X25519.generate();
        byte[] share = KeyType.X25519.serialised(ephemeral.getPublic());
        byte[] secret = Hpke.dh(KeyType.X25519, ephemeral.getPrivate(), KeyType.X25519.publicKey(half(key)));
        byte[] combined = Bytes.concat(mlkem.key().getEncoded(), secret, share, half(key), Bytes.utf8("\\.//^\\"));
        return new Hpke.Encapsulation(MessageDigest.getInstance("SHA3-256").digest(combined), Bytes.concat(mlkem.encapsulation(), share));
    }
}
