package io.github.pushcrypt;

import java.time.*;
import java.util.*;

/** Seals the pushes to one app (PROTOCOL sections 1 to 5). It is immutable and may be used from any thread. */
public final class Sealer {
    static final int MAX_LIMIT = 4_096, ID_SIZE = 16;
    final String topic;
    final InstantSource clock;
    private final Signer signer;
    /** Where a sealer gets the key that it signs with. A {@link KeysetWatcher} follows the rotation of a keyset. */
    @FunctionalInterface
    public interface Signer {
        /** The key that signs at a time. Throws {@link PushCryptException} with {@code noKeySeals} if there is none. */
        SenderKey keyAt(Instant time);
    }
    /** A sealer for an app, by its bundle identifier, that pins the sender's keys. Throws invalidTopic, wrongKind, noKeySeals. */
    public Sealer(String topic, Signer signer) { this(topic, Objects.requireNonNull(signer), InstantSource.system()); }
    /** A sealer with another clock. A signer of null seals unsigned pushes, for apps that pin no sender. */
    public Sealer(String topic, Signer signer, InstantSource clock) {
        Flaw.unless(isTopic(topic), "invalidTopic", "the topic isn't 1 to 155 characters of A-Z, a-z, 0-9, . and -");
        this.topic = topic;
        this.signer = signer;
        this.clock = clock;
        signerAt(clock.instant()); // A backend that can't sign should not start.
    }
    static boolean isTopic(Object text) { return text instanceof String topic && topic.matches("[A-Za-z0-9.-]{1,155}"); }
    /** The key that signs, or null. */
    Key signerAt(Instant time) { return signer == null ? null : signer.keyAt(time).key; }
    /** Seals with the usual options. */
    public SealedPush seal(String payload, Recipient to, Placeholder placeholder) { return seal(payload, to, placeholder, SealOptions.DEFAULT); }
    /**
     * Encrypts a payload, the JSON of an object with {@code aps}, byte for byte. {@link Json#write} makes it of maps. Refuses it with
     * invalidPayload, invalidPlaceholder, invalidOption, notExposable, notAuthenticated, suiteTooLow, deviceMissing, tooLarge, expiresTooLate,
     * noDayKey or noKeySeals, and a day key as {@link Registration#fromJson} does.
     */
    public SealedPush seal(String payload, Recipient to, Placeholder placeholder, SealOptions options) {
        return seal(Payload.read(payload), to, placeholder, options);
    }
    /** As {@link #seal(String, Recipient, Placeholder, SealOptions)}, with the UTF-8 bytes of the payload. */
    public SealedPush seal(byte[] payload, Recipient to, Placeholder placeholder, SealOptions options) {
        return seal(Payload.read(payload), to, placeholder, options);
    }
    private SealedPush seal(Payload inner, Recipient to, Placeholder placeholder, SealOptions options) {
        Instant now = clock.instant();
        boolean setsBadge = inner.aps().has("badge") || options.offload != null && options.offload.setsBadge();
        Flaw.unless(options.badgeAdd == null || !setsBadge, "invalidPayload", "it sets the badge, and badgeAdd adds to it");
        String id = options.campaign == null ? Bytes.base64(Bytes.random(ID_SIZE)) : to.messageId(options.campaign);
        Key key = to.keyAt(now, options.requiresDayKey);
        SealOptions checked = options.within(to.longestLifetime());
        return new Sealing(topic, key, signerAt(now), placeholder.alert(), checked, id, now).push(inner, options.oversize, false, false);
    }
    /** Makes a challenge for an uploaded record, by which its device proves that it has the private key (docs/registration.md). */
    public Challenge challenge(Registration registration, String host) { return Challenge.make(this, registration, host); }
    record Sealing(String topic, Key key, Key signer, Map<String, Object> alert, SealOptions options, String id, Instant now) {
        Sealing with(SealOptions changed) { return new Sealing(topic, key, signer, alert, changed, id, now); }
        SealedPush push(Payload inner, OversizePlan plan, boolean isShortened, boolean isOffloaded) {
            Map<String, Object> header = options.header(key, signer != null, id, now.getEpochSecond());
            String[] frame = frame(inner);
            byte[] message = inner.withHeader(Json.write(header));
            // A message may have ⌊3 (l − f) / 4⌋ − header − 16 − (64 if signed) bytes.
            int fixed = Bytes.utf8(frame[0] + frame[1]).length, limit = options.byteLimit(), overhead = Envelope.overhead(key, signer != null);
            int capacity = Math.floorDiv(3 * (limit - fixed), 4) - overhead;
            if (message.length > capacity) {
                int needed = fixed + (4 * (message.length + overhead) + 2) / 3;
                Map<String, Integer> facts = Map.of("bytesNeeded", needed, "bytesAvailable", limit);
                return plan.smaller(this, inner, message.length - capacity, isOffloaded).orElseThrow(() -> new PushCryptException("tooLarge",
                        "the sealed payload takes " + needed + " bytes and the limit is " + limit, facts, null));
            }
            long multiples = (message.length + options.padding - 1L) / options.padding;
            byte[] padded = Bytes.padded(message, (int) Math.min(capacity, multiples * options.padding));
            String json = frame[0] + Bytes.base64(Envelope.seal(key, signer, topic, padded, false)) + frame[1];
            Instant sealedAt = Instant.ofEpochSecond(now.getEpochSecond());
            return new SealedPush(json, id, sealedAt, Instant.ofEpochSecond((Long) header.get("exp")), topic, options.carrier, options.isQuiet,
                    options.collapseId, isShortened, isOffloaded, key.days() != null);
        }
        /** The outer payload before and behind the characters of {@code sealed}. */
        private String[] frame(Payload inner) {
            options.carrier.check(alert, options.exposed, inner.aps());
            String aps = "{\"alert\":" + Json.write(alert) + ",\"mutable-content\":1" + inner.exposed(options.exposed, options.isQuiet) + "}";
            String skid = signer == null ? "" : "\",\"skid\":\"" + signer.kid();
            return options.carrier.frame(aps, "{\"v\":1,\"kid\":\"" + key.kid() + "\",\"sealed\":\"", skid + "\"}");
        }
    }
}
