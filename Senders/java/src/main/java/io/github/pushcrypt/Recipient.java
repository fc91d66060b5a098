package io.github.pushcrypt;

import java.time.*;

/** The key of one installation of the app, which a sender seals to. It is immutable, and contains no private key. */
public final class Recipient {
    final Key key;
    Recipient(Key key) {
        Flaw.unless(!key.hasPrivatePart() && key.type().suite > 0, "wrongKind", "nothing is sealed to a private key, or to a sender's: " + key.kid());
        this.key = key;
    }
    /**
     * Reads a public, shared or device key, but none of its day keys, of which sealing reads that of the day (uploads: {@link Registration}).
     * Refuses it with wrongKind, pskMissing, as {@link Keyset#fromJson}.
     */
    public static Recipient fromJwk(String record) { return Keyset.fromJson(record).only().recipient(); }
    /** A device's own key, if this is a shared key. Otherwise it is {@code wrongKind}, and {@code invalidDeviceID} without a device id. */
    public Recipient forDevice(String device) { return new Recipient(key.forDevice(device)); }
    /** The id of a campaign's push to this key, to take it back. Throws {@link PushCryptException}: {@code invalidOption}. */
    public String messageId(String campaign) { return SealOptions.campaignId(campaign, key); }
    /** The key's id, 11 characters. */
    public String kid() { return key.kid(); }
    /** The suite of messages to the key, 1 to 4. */
    public int suite() { return key.type().suite; }
    /** The longest lifetime of a push to this key: 30 days, or the flight of its device set (PROTOCOL section 14). */
    public Duration longestLifetime() { return key.days() == null ? SealOptions.LONGEST : Duration.ofSeconds(key.days().flight); }
    /** The day key for a time, or the key of the record if it has none. */
    Key keyAt(Instant now, boolean isRequired) {
        Key ofDay = key.days() == null ? key : key.days().at(now.getEpochSecond());
        Flaw.unless(ofDay != null || !isRequired, "noDayKey", "key " + kid() + " has no day key for now: its app must run, and upload others");
        return ofDay == null ? key : ofDay;
    }
    /** The record. It contains the psk or the shared key. */
    public String toJwk() { return Json.write(key.record(false)); }
}
