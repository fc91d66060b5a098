package io.github.pushcrypt;

import io.github.pushcrypt.Json.Obj;
import java.security.MessageDigest;
import java.time.Instant;

/** A challenge, by which a device proves that it has the private key of its record (PROTOCOL section 13). {@code json} is for the app. */
public record Challenge(String json, Pending pending) {
    private static final int VALIDITY_IN_SECONDS = 600;
    /** {@code host} is the one that the app registers with, in lower case and without port; otherwise it is {@code invalidOption}. */
    static Challenge make(Sealer sealer, Registration registration, String host) {
        Flaw.unless(host.matches("[a-z0-9.-]{1,253}"), "invalidOption", "a host has 1 to 253 characters of a-z 0-9 . - and no port");
        Instant now = sealer.clock.instant();
        Key key = registration.recipient().key, signer = sealer.signerAt(now);
        byte[] nonce = Bytes.random(32);
        String id = Bytes.base64(Bytes.random(16)), digest = Bytes.base64(Bytes.sha256(code(nonce, host, id, registration.record())));
        String sealed = Bytes.base64(Envelope.seal(key, signer, sealer.topic, nonce, true));
        var text = Json.map("v", 1, "registration", id, "kid", key.kid(), "sealed", sealed);
        if (signer != null) text.put("skid", signer.kid());
        return new Challenge(Json.write(text), new Pending(id, registration, digest, now.getEpochSecond()));
    }
    /** HMAC-SHA256(nonce, "pushcrypt/1 possession" ‖ 0x00 ‖ lp16(host) ‖ lp16(RID) ‖ SHA-256(record)) */
    static byte[] code(byte[] nonce, String host, String id, String record) {
        return Bytes.hmac(nonce, Envelope.label(" possession"), Bytes.lp16(host), Bytes.lp16(id), Bytes.sha256(Bytes.utf8(record)));
    }
    /**
     * What the backend stores under the {@code id} until the device answers. It is as secret as the record. Take it out of the store before
     * you call {@link #confirm}, so that a challenge has one answer. {@code codeDigest} is SHA-256 of the expected code.
     */
    public record Pending(String id, Registration registration, String codeDigest, long challengedAt) {
        private boolean hasPsk() { return registration.recipient().key.psk() != null; }
        /** For a column of a database, as the other implementations write it. */
        public String toJson() {
            var stored = Json.map("version", 1, "kid", registration.kid(), "hasPSK", hasPsk(), "record", registration.record());
            return Json.write(Json.map("version", 1, "id", id, "registration", stored, "codeDigest", codeDigest, "challengedAt", challengedAt));
        }
        /** Reads what {@link #toJson} wrote. Refuses it with malformed, and with pskMissing if the record lost its psk. */
        public static Pending fromJson(String json) {
            return Flaw.coded("malformed", "the pending registration", () -> {
                Obj root = Json.parse(json), stored = root.members("registration");
                boolean hasPsk = Boolean.TRUE.equals(stored.get("hasPSK"));
                Flaw.unless(root.integer("version", 1, 1) == stored.integer("version", 1, 1) && Key.isId(root.get("id")), "it has another form");
                Registration registration = Registration.fromJson(stored.string("record"));
                long challengedAt = root.integer("challengedAt", 0, Json.MAX_INTEGER);
                Pending pending = new Pending(root.string("id"), registration, Bytes.base64(root.bytes("codeDigest", 32)), challengedAt);
                Flaw.unless(!hasPsk || pending.hasPsk(), "pskMissing", "the stored record has lost its psk");
                Flaw.unless(registration.kid().equals(stored.get("kid")) && hasPsk == pending.hasPsk(), "the record was replaced");
                return pending;
            });
        }
        /** The id of the pending registration that an answer is for. Throws {@link PushCryptException}: {@code malformed}. */
        public static String idOf(String answer) { return answer(answer).string("registration"); }
        private static Obj answer(String text) {
            return Flaw.coded("malformed", "the answer", () -> {
                Flaw.unless(Bytes.utf8(text).length <= Registration.MAX_SIZE, "it has more than 4,096 bytes");
                Obj root = Json.parse(text);
                Flaw.unless(Key.isId(root.get("registration")), "registration isn't an id");
                root.bytes("answer", 32);
                return root;
            });
        }
        /** The registration, if the device has its keys. Otherwise: malformed, otherChallenge, challengeExpired, possessionNotProven. */
        public Registration confirm(String answer, Instant now) {
            Flaw.unless(id.equals(idOf(answer)), "otherChallenge", "the answer is for another challenge");
            boolean isInTime = Math.abs(now.getEpochSecond() - challengedAt) <= VALIDITY_IN_SECONDS;
            Flaw.unless(isInTime, "challengeExpired", "the answer isn't within 10 minutes of the challenge");
            String digest = Bytes.base64(Bytes.sha256(answer(answer).bytes("answer", 32)));
            boolean isRight = MessageDigest.isEqual(Bytes.utf8(digest), Bytes.utf8(codeDigest));
            Flaw.unless(isRight, "possessionNotProven", "the answer was made with another key, or for another record or host");
            return registration;
        }
    }
}
