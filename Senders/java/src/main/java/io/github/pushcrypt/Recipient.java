package io.github.pushcrypt;

import java.util.Optional;

/** The key of one installation of the app, which a sender seals to. It is immutable, and contains no private key. */
public final class Recipient {
    final Key key;

    Recipient(Key key) {
        Flaw.unless(!key.hasPrivatePart(), "wrongKind", "key " + key.kid() + " is private: only its owner may have it");
        Flaw.unless(key.type().suite > 0, "wrongKind", "key " + key.kid() + " is a sender's: nothing is sealed to it");
        this.key = key;
    }

    /**
     * Reads a public, a shared or a device key: a JWK, or a set of one. Read an app's upload with {@link Registration}. Throws
     * {@link PushCryptException}: {@code wrongKind} for a sender's or a private key, {@code pskMissing}, a code of {@link Keyset#fromJson}.
     */
    public static Recipient fromJwk(String record) { return Keyset.fromJson(record).only().recipient(); }
    /** A device's own key, if this is a shared key. Throws {@link PushCryptException}: {@code invalidDeviceID}, {@code wrongKind}. */
    public Recipient forDevice(String device) { return new Recipient(key.forDevice(device)); }
    /** The id of a campaign's push to this key, to take it back. Throws {@link PushCryptException}: {@code invalidOption}. */
    public String messageId(String campaign) { return SealOptions.campaignId(campaign, key); }
    /** The key's id, 11 characters. */
    public String kid() { return key.kid(); }
    /** The suite of messages to the key, 1 to 4. */
    public int suite() { return key.type().suite; }
    /** The device id, if this is the key of one device. */
    public Optional<String> device() { return Optional.ofNullable(key.device()); }
    /** Whether sealing to the key requires a secret: a psk or a shared key. */
    public boolean provesSender() { return Envelope.provesSender(key, false); }
    /** The record. It contains the psk or the shared key. */
    public String toJwk() { return Json.write(key.record(false)); }
    @Override public boolean equals(Object other) { return other instanceof Recipient recipient && key.equals(recipient.key); }
    @Override public int hashCode() { return key.hashCode(); }
}
