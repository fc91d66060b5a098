package io.github.pushcrypt;

import static io.github.pushcrypt.SealingTests.*;

import java.security.*;
import java.security.spec.ECGenParameterSpec;
import java.util.*;
import java.util.concurrent.Callable;
import javax.crypto.*;
import javax.crypto.spec.*;

/**
 * What sealing costs beside the primitives that it needs, on keys that were read before: an Ed25519 signature, a key pair, an agreement, HKDF
 * and AES-GCM. Both run in turn in one process, after a warm-up; the best round of each counts.
 */
final class Benchmark {
    private static final int ROUNDS = 30, SEALS = 40;

    private Benchmark() {}

    private static double microseconds(Callable<?> body) throws Exception {
        long start = System.nanoTime();
        for (int count = 0; count < SEALS; count++) body.call();
        return (System.nanoTime() - start) / 1e3 / SEALS;
    }

    /** The primitives of a seal, with the platform's own classes. */
    private static Callable<?> primitives(Key key, boolean isSigned) throws Exception {
        boolean isP256 = key.type() == KeyType.P256, isShared = key.type() == KeyType.SHARED;
        PrivateKey signing = KeyType.ED25519.privateKey(named("sender").secret());
        PublicKey recipient = isShared ? null : key.type().publicKey(key.publicBytes());
        SecretKeySpec aes = new SecretKeySpec(Bytes.random(key.type() == KeyType.X25519 ? 16 : 32), "AES"), prk = new SecretKeySpec(Bytes.random(32), "HmacSHA256");
        byte[] text = new byte[768 + (isSigned ? 64 : 0)], label = new byte[80];
        return () -> {
            if (isSigned) {
                Signature signature = Signature.getInstance("Ed25519");
                signature.initSign(signing);
                signature.update(text);
                signature.sign();
            }
            if (!isShared) {
                KeyPairGenerator generator = KeyPairGenerator.getInstance(isP256 ? "EC" : "X25519");
                generator.initialize(new ECGenParameterSpec(isP256 ? "secp256r1" : "X25519"), Bytes.RANDOM);
                KeyAgreement agreement = KeyAgreement.getInstance(isP256 ? "ECDH" : "X25519");
                agreement.init(generator.generateKeyPair().getPrivate());
                agreement.doPhase(recipient, true);
                agreement.generateSecret();
            }
            for (int step = isShared ? 1 : 0; step < (isShared ? 4 : 8); step++) {
                Mac mac = Mac.getInstance("HmacSHA256");
                mac.init(prk);
                mac.doFinal(label);
            }
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(Cipher.ENCRYPT_MODE, aes, new GCMParameterSpec(128, Bytes.random(12)));
            return cipher.doFinal(text);
        };
    }

    static void run() throws Exception {
        String payload = body(300);
        for (String name : List.of("p256 psk", "x25519 psk", "device")) {
            for (boolean isSigned : new boolean[] {true, false}) {
                Recipient to = recipient(name);
                Sealer sealer = sealer(isSigned);
                Callable<?> seal = () -> sealer.seal(payload, to, PLACEHOLDER), bare = primitives(to.key, isSigned);
                for (int round = 0; round < ROUNDS; round++) {
                    microseconds(seal);
                    microseconds(bare);
                }
                double sealed = Double.MAX_VALUE, floor = Double.MAX_VALUE;
                for (int round = 0; round < ROUNDS; round++) {
                    sealed = Math.min(sealed, microseconds(seal));
                    floor = Math.min(floor, microseconds(bare));
                }
                System.out.printf(Locale.ROOT, "suite %d %s: %.0f us per seal, primitives %.0f us: %.2f%n", to.suite(), isSigned ? "signed" : "unsigned", sealed, floor,
                        sealed / floor);
            }
        }
    }
}
