package io.github.pushcrypt;

import java.security.KeyPair;
import java.time.Instant;
import java.util.Arrays;

/** A sender's private key, Ed25519, which signs messages. It is immutable. */
public final class SenderKey implements Signer {
    final Key key;

    SenderKey(Key key) {
        boolean signs = key.kind().equals("sender") && key.secret() != null;
        Flaw.unless(signs, "wrongKind", key.kid() + " isn't a sender's private key");
        this.key = key;
    }

    /** Reads a private JWK, or a set of one. Throws {@link PushCryptException}: {@code wrongKind}, or a code of {@link Keyset#fromJson}. */
    public static SenderKey fromJwk(String record) { return new SenderKey(Keyset.fromJson(record).only().key()); }

    /** A fresh key. Write {@link #toJwk} only to a file that no other user can read. */
    public static SenderKey generate() {
        KeyPair pair = Bytes.crypto(KeyType.ED25519::generate);
        byte[] encoded = pair.getPrivate().getEncoded(), secret = Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length);
        return new SenderKey(new Key(KeyType.ED25519, null, KeyType.ED25519.serialised(pair.getPublic()), secret, null, null, false));
    }

    /** The key's id, 11 characters. */
    public String kid() { return key.kid(); }
    /** The whole key. */
    public String toJwk() { return Json.write(key.record(true)); }
    /** The record without the private key, for the apps that pin it. */
    public String publicJwk() { return Json.write(key.record(false)); }
    @Override public SenderKey keyAt(Instant time) { return this; }
}
