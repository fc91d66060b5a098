package io.github.pushcrypt;

import java.math.BigInteger;
import java.security.*;
import java.security.spec.*;
import java.util.*;

/** The types of key records (PROTOCOL section 3), and their keys as the Java platform has them. */
enum KeyType {
    P256("EC", "P-256", "HPKE-7", 1, 65, "EC", "3059301306072a8648ce3d020106082a8648ce3d030107034200",
            "3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420"),
    X25519("OKP", "X25519", "HPKE-3", 2, 32, "X25519", "302a300506032b656e032100", "302e020100300506032b656e04220420"),
    XWING("AKP", null, "pushcrypt-3", 3, 1_216, "ML-KEM", "308204b2300b0609608648016503040402038204a100", ""),
    SHARED("oct", null, "HKDF-A256GCM", 4, 0, "", "", ""),
    ED25519("OKP", "Ed25519", "Ed25519", 0, 32, "Ed25519", "302a300506032b6570032100", "302e020100300506032b657004220420");
    // SEC 2, secp256r1: y² = x³ − 3x + b mod p, and the order n of the group.
    private static final BigInteger P = new BigInteger("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff", 16);
    private static final BigInteger B = new BigInteger("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b", 16);
    private static final BigInteger N = new BigInteger("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", 16);
    // RFC 8032 section 5.1: −x² + y² = 1 + d x² y² mod p, d = −121665 / 121666.
    private static final BigInteger P25519 = BigInteger.TWO.pow(255).subtract(BigInteger.valueOf(19));
    private static final BigInteger D = BigInteger.valueOf(-121_665).multiply(BigInteger.valueOf(121_666).modInverse(P25519));
    /** The y coordinate of two points of order 8. That of the other two is its negative. */
    private static final BigInteger ORDER_8_Y = new BigInteger("5fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826", 16);
    private static final List<BigInteger> SMALL_ORDER = List.of(BigInteger.ZERO, BigInteger.ONE, P25519.subtract(BigInteger.ONE), ORDER_8_Y,
            P25519.subtract(ORDER_8_Y));
    private static final byte[] BASE_POINT = HexFormat.of().parseHex("09" + "00".repeat(31));
    final String kty, crv, alg, algorithm;
    /** The suite of messages to such a key, or 0; the bytes of a serialised public key. */
    final int suite, size;
    /** The DER of SubjectPublicKeyInfo (RFC 5280) before a public key's bytes, and of PrivateKeyInfo (RFC 5208) before a private key's. */
    private final byte[] publicPrefix, privatePrefix;
    KeyType(String kty, String crv, String alg, int suite, int size, String algorithm, String publicHex, String privateHex) {
        this.kty = kty;
        this.crv = crv;
        this.alg = alg;
        this.suite = suite;
        this.size = size;
        this.algorithm = algorithm;
        publicPrefix = HexFormat.of().parseHex(publicHex);
        privatePrefix = HexFormat.of().parseHex(privateHex);
    }
    boolean isPair() { return suite >= 1 && suite <= 3; }
    PublicKey publicKey(byte[] bytes) throws GeneralSecurityException {
        return KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(Bytes.concat(publicPrefix, bytes)));
    }
    PrivateKey privateKey(byte[] bytes) throws GeneralSecurityException {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(Bytes.concat(privatePrefix, bytes)));
    }
    /** The bytes behind the DER's prefix: a point of P-256 is uncompressed. */
    byte[] serialised(PublicKey key) { return Arrays.copyOfRange(key.getEncoded(), publicPrefix.length, publicPrefix.length + size); }
    KeyPair generate() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        generator.initialize(new ECGenParameterSpec(this == P256 ? "secp256r1" : algorithm), Bytes.RANDOM);
        return generator.generateKeyPair();
    }
    byte[] sign(byte[] secret, byte[] text) throws GeneralSecurityException {
        Signature signature = Signature.getInstance(this == P256 ? "SHA256withECDSA" : algorithm);
        signature.initSign(privateKey(secret), Bytes.RANDOM);
        signature.update(text);
        return signature.sign();
    }
    /** Whether the public key verifies what the private key signs. */
    boolean signsFor(byte[] secret, byte[] publicBytes) throws GeneralSecurityException {
        Signature signature = Signature.getInstance(this == P256 ? "SHA256withECDSA" : algorithm);
        signature.initVerify(publicKey(publicBytes));
        signature.update(publicBytes);
        return signature.verify(sign(secret, publicBytes));
    }
    /** Whether a public key is valid, and {@code secret} is null or its private key ("An importer"). Providers leave out most of this. */
    boolean isValid(byte[] point, byte[] secret) {
        try {
            return switch (this) {
                case P256 -> isOnP256(point) && (secret == null || isScalarOfP256(secret) && signsFor(secret, point));
                case ED25519 -> isOnEd25519(point) && (secret == null || signsFor(secret, point));
                case X25519 -> isX25519(point, secret);
                case XWING -> XWing.isReduced(point, secret) && isX25519(XWing.half(point), null);
                case SHARED -> true;
            };
        } catch (GeneralSecurityException e) {
            return false;
        }
    }
    private static boolean isOnP256(byte[] point) {
        BigInteger x = new BigInteger(1, Arrays.copyOfRange(point, 1, 33)), y = new BigInteger(1, Arrays.copyOfRange(point, 33, 65));
        BigInteger cubic = x.pow(3).subtract(x.multiply(BigInteger.valueOf(3))).add(B);
        return x.compareTo(P) < 0 && y.compareTo(P) < 0 && y.pow(2).subtract(cubic).mod(P).signum() == 0;
    }
    static boolean isScalarOfP256(byte[] secret) {
        BigInteger scalar = new BigInteger(1, secret);
        return scalar.signum() > 0 && scalar.compareTo(N) < 0;
    }
    /** Whether the coordinate is canonical, and the point is on the curve and not of small order. */
    private static boolean isOnEd25519(byte[] point) {
        BigInteger y = littleEndian(point).clearBit(255), square = y.pow(2);
        // x² = (y² − 1) / (d y² + 1) is a square if and only if the product is one (Euler's criterion).
        BigInteger product = square.subtract(BigInteger.ONE).multiply(D.multiply(square).add(BigInteger.ONE));
        return y.compareTo(P25519) < 0 && !SMALL_ORDER.contains(y) && product.modPow(P25519.shiftRight(1), P25519).equals(BigInteger.ONE);
    }
    /** Whether the coordinate is canonical and not of small order, and {@code secret} is null or the private key of the point. */
    private static boolean isX25519(byte[] point, byte[] secret) throws GeneralSecurityException {
        if (littleEndian(point).compareTo(P25519) >= 0) return false;
        // With a point of small order the shared secret of every private key is zero, which is refused.
        dh(new byte[32], point);
        return secret == null || MessageDigest.isEqual(dh(secret, BASE_POINT), point);
    }
    private static byte[] dh(byte[] secret, byte[] point) throws GeneralSecurityException {
        return Hpke.dh(X25519, X25519.privateKey(secret), X25519.publicKey(point));
    }
    private static BigInteger littleEndian(byte[] bytes) {
        byte[] reversed = new byte[bytes.length];
        for (int at = 0; at < bytes.length; at++) reversed[bytes.length - 1 - at] = bytes[at];
        return new BigInteger(1, reversed);
    }
}
