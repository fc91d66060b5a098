package io.github.pushcrypt;

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
    /** Whether the public key verifies what the private key signs. */
    boolean signsFor(byte[] secret, byte[] publicBytes) throws GeneralSecurityException {
        Signature signature = Signature.getInstance(this == P256 ? "SHA256withECDSA" : algorithm);
        signature.initSign(privateKey(secret), Bytes.RANDOM);
        signature.update(publicBytes);
        byte[] signed = signature.sign();
        signature.initVerify(publicKey(publicBytes));
        signature.update(publicBytes);
        return signature.verify(signed);
    }
}
