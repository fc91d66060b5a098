package io.github.pushcrypt;

import java.time.Instant;

/** A sender's private key, Ed25519, which signs messages. It is immutable. */
public final class SenderKey implements Sealer.Signer {
    final Key key;
    SenderKey(Key key) {
        Flaw.unless(key.kind().equals("sender") && key.secret() != null, "wrongKind", key.kid() + " isn't a sender's private key");
        this.key = key;
    }
    /** Reads a private JWK, or a set of one. Throws {@link PushCryptException}: {@code wrongKind}, or a code of {@link Keyset#fromJson}. */
    public static SenderKey fromJwk(String record) { return new SenderKey(Keyset.fromJson(record).only().key()); }
    /** The key's id, 11 characters. */
    public String kid() { return key.kid(); }
    /** The record without the private key, for the apps that pin it. */
    public String publicJwk() { return Json.write(key.record(false)); }
    @Override public SenderKey keyAt(Instant time) { return this; }
}
