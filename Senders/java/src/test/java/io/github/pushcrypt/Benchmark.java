package io.github.pushcrypt;

import static io.github.pushcrypt.SealingTests.*;

import java.security.*;
import java.util.*;
import java.util.concurrent.Callable;
import javax.crypto.Cipher;

/** Microseconds of a signed seal, beside those of the primitives that it needs, in one process after a warm-up. */
final class Benchmark {
    private Benchmark() {}

    private static double median(Callable<?> body) throws Exception {
        for (int round = 0; round < 3_000; round++) body.call();
        double[] samples = new double[15];
        for (int sample = 0; sample < samples.length; sample++) {
            long start = System.nanoTime();
            for (int round = 0; round < 300; round++) body.call();
            samples[sample] = (System.nanoTime() - start) / 300e3;
        }
        Arrays.sort(samples);
        return samples[samples.length / 2];
    }

    static void run() throws Exception {
        String payload = body(300);
        Key sender = named("sender");
        byte[] text = new byte[700];
        for (String name : List.of("p256 psk", "x25519 psk", "device")) {
            Recipient to = recipient(name);
            Sealer sealer = sealer(true);
            double seal = median(() -> sealer.seal(payload, to, PLACEHOLDER));
            Key key = to.key;
            byte[] aes = Bytes.random(key.type() == KeyType.X25519 ? 16 : 32), nonce = Bytes.random(12);
            double bare = median(() -> {
                Signature signature = Signature.getInstance("Ed25519");
                signature.initSign(sender.type().privateKey(sender.secret()));
                signature.update(text);
                signature.sign();
                if (key.type() != KeyType.SHARED) {
                    KeyPair pair = key.type().generate();
                    Hpke.dh(key.type(), pair.getPrivate(), key.type().publicKey(key.publicBytes()));
                }
                return Bytes.aesGcm(Cipher.ENCRYPT_MODE, aes, nonce, Bytes.EMPTY, text);
            });
            System.out.printf(Locale.ROOT, "suite %d signed: %.0f us per seal; signature, key pair, agreement and AES-GCM alone: %.0f us%n", to.suite(), seal, bare);
        }
    }
}
