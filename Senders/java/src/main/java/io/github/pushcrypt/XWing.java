package io.github.pushcrypt;

import java.security.*;
import java.util.*;
import javax.crypto.KEM;

/**
 * The checks of X25519 keys (suite 2), and X-Wing of ML-KEM-768 and X25519 (suite 3, draft-connolly-cfrg-xwing-kem) on platforms that have
 * ML-KEM: Java 24 or later.
 */
final class XWing {
    static final int ENC_SIZE = 1_120;
    /** FIPS 203 section 7.2: of the 1,184 bytes, the last 32 aren't coefficients of 12 bits. */
    private static final int MLKEM_SIZE = 1_184, COEFFICIENTS_SIZE = 1_152, Q = 3_329;
    private static final byte[] BASE_POINT = HexFormat.of().parseHex("09" + "00".repeat(31));
    /** Whether the coordinate is canonical and not of small order, and {@code secret} is null or the private key of the point. */
    static boolean isX25519(byte[] point, byte[] secret) throws GeneralSecurityException {
        if (Points.littleEndian(point).compareTo(Points.P25519) >= 0) return false;
        // With a point of small order the shared secret of every private key is zero, which is refused.
        dh(new byte[32], point);
        return secret == null || MessageDigest.isEqual(dh(secret, BASE_POINT), point);
    }
    private static byte[] dh(byte[] secret, byte[] point) throws GeneralSecurityException {
        return Hpke.dh(KeyType.X25519, KeyType.X25519.privateKey(secret), KeyType.X25519.publicKey(point));
    }
    /** Whether the ML-KEM half is reduced and the X25519 half valid. Throws {@link PushCryptException} with {@code unsupportedSuite}. */
    static boolean isXWing(byte[] key, byte[] seed) throws GeneralSecurityException {
        if (seed != null) throw unsupported("the platform can't expand the seed of a private X-Wing key");
        kem();
        for (int at = 0; at < COEFFICIENTS_SIZE; at += 3) {
            int low = key[at] & 0xFF | (key[at + 1] & 0x0F) << 8, high = (key[at + 1] & 0xF0) >> 4 | (key[at + 2] & 0xFF) << 4;
            if (low >= Q || high >= Q) return false;
        }
        return isX25519(Arrays.copyOfRange(key, MLKEM_SIZE, key.length), null);
    }
    private static KEM kem() {
        try {
            return KEM.getInstance("ML-KEM-768");
        } catch (NoSuchAlgorithmException | LinkageError e) {
            throw unsupported("suite 3 needs ML-KEM-768, which Java has from version 24 on");
        }
    }
    private static PushCryptException unsupported(String reason) { return new PushCryptException("unsupportedSuite", reason); }
    // 5.4. Encapsulate(pk): ct = ct_M ‖ ct_X, and 5.3. ss = SHA3-256(ss_M ‖ ss_X ‖ ct_X ‖ pk_X ‖ XWingLabel)
    static Hpke.Encapsulation encap(byte[] key) throws GeneralSecurityException {
        KEM.Encapsulated mlkem = kem().newEncapsulator(KeyType.XWING.publicKey(Arrays.copyOf(key, MLKEM_SIZE)), Bytes.RANDOM).encapsulate();
        KeyPair ephemeral = KeyType.X25519.generate();
        byte[] half = Arrays.copyOfRange(key, MLKEM_SIZE, key.length), share = KeyType.X25519.serialised(ephemeral.getPublic());
        byte[] secret = Hpke.dh(KeyType.X25519, ephemeral.getPrivate(), KeyType.X25519.publicKey(half));
        byte[] combined = Bytes.concat(mlkem.key().getEncoded(), secret, share, half, Bytes.utf8("\\.//^\\"));
        return new Hpke.Encapsulation(MessageDigest.getInstance("SHA3-256").digest(combined), Bytes.concat(mlkem.encapsulation(), share));
    }
}
