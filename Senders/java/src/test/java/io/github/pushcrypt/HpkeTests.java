package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;

import io.github.pushcrypt.Json.Obj;
import java.security.*;
import java.util.*;

/** RFC 9180 appendix A, the edges of draft-ietf-hpke-hpke, and steps-v1.json. */
final class HpkeTests {
    private HpkeTests() {}

    private static Key keyOf(KeyType type, Obj vector) {
        return new Key(type, null, hex(vector.get("pkRm")), hex(vector.get("skRm")), null, null, false);
    }

    private static byte[] optional(Obj vector, String name) { return vector.has(name) ? hex(vector.get(name)) : Bytes.EMPTY; }

    private static Hpke suite(Obj vector) {
        long aead = vector.integer("aead_id", 0, 65_535);
        KeyType type = vector.integer("kem_id", 0, 65_535) == 16 ? KeyType.P256 : KeyType.X25519;
        return new Hpke(type, type == KeyType.P256 ? 16 : 32, (int) aead, aead == 1 ? 16 : 32);
    }

    static void run() throws Exception {
        for (Obj vector : array("rfc9180-appendix-a.json")) {
            if (vector.integer("mode", 0, 3) > 1) continue;
            String name = vector.string("section") + " ";
            Hpke suite = suite(vector);
            Key key = keyOf(suite.kem(), vector);
            KeyPair ephemeral = new KeyPair(key.type().publicKey(hex(vector.get("pkEm"))), key.type().privateKey(hex(vector.get("skEm"))));
            Hpke.Encapsulation encapsulation = suite.encap(key.publicBytes(), ephemeral);
            equal(name + "enc", vector.get("enc"), hex(encapsulation.enc()));
            equal(name + "shared_secret", vector.get("shared_secret"), hex(encapsulation.sharedSecret()));
            if (suite.aeadId() > 3) continue;
            Hpke.MessageKey made = suite.keySchedule(encapsulation.sharedSecret(), hex(vector.get("info")), optional(vector, "psk"), optional(vector, "psk_id"));
            equal(name + "key", vector.get("key"), hex(made.key()));
            equal(name + "base_nonce", vector.get("base_nonce"), hex(made.nonce()));
            if (suite.aeadId() == 1) checkEncryptions(name, vector, made);
        }
        for (Obj vector : array("hpke-edges.json")) {
            Hpke suite = suite(vector);
            Key key = keyOf(suite.kem(), vector);
            byte[] enc = hex(vector.get("enc"));
            byte[] secret = suite.sharedSecret(Hpke.dh(key.type(), key.type().privateKey(key.secret()), key.type().publicKey(enc)), enc, key.publicBytes());
            Hpke.MessageKey made = suite.keySchedule(secret, optional(vector, "info"), optional(vector, "psk"), optional(vector, "psk_id"));
            checkEncryptions(vector.string("section") + " ", vector, made);
        }
        for (Obj push : cases(vectors("steps-v1.json"), "pushes")) checkSteps(push);
        byte[] any = Bytes.random(32);
        for (String point : List.of("00", "01", "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800", "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
                "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")) {
            byte[] bytes = Arrays.copyOf(hex(point), 32);
            boolean isRefused = false;
            try {
                Hpke.dh(KeyType.X25519, KeyType.X25519.privateKey(any), KeyType.X25519.publicKey(bytes));
            } catch (GeneralSecurityException e) {
                isRefused = true;
            }
            check("a share of zeros is refused: " + point, isRefused);
        }
        checkZeros();
        boolean isRefused = false;
        try {
            Hpke.of(KeyType.P256).keySchedule(any, any, any, Bytes.EMPTY);
        } catch (IllegalArgumentException e) {
            isRefused = true;
        }
        check("a psk without an id is refused", isRefused);
    }

    /** A provider whose agreement gives zeros, as one that doesn't look at the point would for a point of small order. */
    public static final class Zeros extends javax.crypto.KeyAgreementSpi {
        @Override
        protected void engineInit(java.security.Key key, SecureRandom random) {}
        @Override
        protected void engineInit(java.security.Key key, java.security.spec.AlgorithmParameterSpec parameters, SecureRandom random) {}
        @Override
        protected java.security.Key engineDoPhase(java.security.Key key, boolean isLast) { return null; }
        @Override
        protected byte[] engineGenerateSecret() { return new byte[32]; }
        @Override
        protected int engineGenerateSecret(byte[] secret, int offset) { return 32; }
        @Override
        protected javax.crypto.SecretKey engineGenerateSecret(String algorithm) { return null; }
    }

    private static void checkZeros() throws Exception {
        Provider provider = new Provider("Zeros", "1", "") {
            private static final long serialVersionUID = 1;
        };
        provider.put("KeyAgreement.X25519", Zeros.class.getName());
        KeyPair pair = KeyType.X25519.generate();
        Security.insertProviderAt(provider, 1);
        boolean isRefused = false;
        try {
            Hpke.dh(KeyType.X25519, pair.getPrivate(), pair.getPublic());
        } catch (GeneralSecurityException e) {
            isRefused = e.getMessage().contains("zero");
        } finally {
            Security.removeProvider("Zeros");
        }
        check("zeros of a provider are refused", isRefused);
    }

    private static void checkEncryptions(String name, Obj vector, Hpke.MessageKey made) {
        int seq = 0;
        for (Obj one : cases(vector, "encryptions")) {
            int number = one.has("seq") ? (int) one.integer("seq", 0, 1_000) : seq++;
            byte[] nonce = made.nonce().clone();
            nonce[11] ^= (byte) number;
            nonce[10] ^= (byte) (number >> 8);
            equal(name + "ct", one.get("ct"), hex(Bytes.encrypt(made.key(), nonce, hex(one.get("aad")), hex(one.get("pt")))));
        }
    }

    private static void checkSteps(Obj push) throws Exception {
        String name = push.string("name") + ": ";
        Obj values = (Obj) push.get("values"), jwk = (Obj) push.get("key");
        Key key = publicOrWhole(jwk), sender = push.get("sender") == null ? null : key(push.get("sender"));
        byte[] info = Envelope.info(key, sender, push.string("topic"), false), message = hex(values.get("message"));
        equal(name + "info", values.get("info"), hex(info));
        byte[] signed = Envelope.signedBytes(key, info, message);
        if (values.has("R")) check(name + "R", hex(signed).startsWith(hex("pushcrypt/1 signature\0".getBytes()) + hex(info) + values.get("R")));
        byte[] plaintext = hex(values.get("plaintext"));
        if (sender != null) {
            Signature signature = Signature.getInstance("Ed25519");
            signature.initSign(sender.type().privateKey(sender.secret()));
            signature.update(signed);
            equal(name + "signature", values.get("signature"), hex(signature.sign()));
        }
        if (key.type() == KeyType.SHARED) {
            byte[] salt = hex(values.get("salt"));
            equal(name + "sealed", hex(salt) + values.get("ct"), hex(Envelope.encryptShared(key, info, salt, plaintext)));
            return;
        }
        byte[] secret = hex(values.get("shared_secret"));
        if (key.type() != KeyType.XWING) equal(name + "shared_secret", hex(secret), hex(TestOpener.sharedSecret(key, hex(values.get("enc")))));
        byte[] psk = optional(values, "psk"), pskId = optional(values, "psk_id");
        Hpke.MessageKey made = Hpke.of(key.type()).keySchedule(secret, info, psk, pskId);
        equal(name + "key", values.get("key"), hex(made.key()));
        equal(name + "base_nonce", values.get("base_nonce"), hex(made.nonce()));
        equal(name + "ct", values.get("ct"), hex(Envelope.encrypt(key, secret, info, plaintext)));
    }

    /** The platform can't read a private key of suite 3. */
    private static Key publicOrWhole(Obj jwk) {
        Key key = Key.read(jwk, !jwk.get("kty").equals("AKP"));
        return key.type() == KeyType.XWING ? publicHalf(key) : key;
    }
}
