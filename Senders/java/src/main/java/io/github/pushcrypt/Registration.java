package io.github.pushcrypt;

import java.security.MessageDigest;
import java.util.*;

/** A registration record: what an app uploads so that a backend can seal to it (docs/registration.md). It is a secret like a password. */
public final class Registration {
    static final int MAX_SIZE = 4_096;
    private final String record;
    private final Recipient recipient;
    /** What a record must have: a secret that only app and backend have, or a key pair, so that the backend can't open what it seals. */
    public enum Demand { PSK, ASYMMETRIC }
    private Registration(String record, Recipient recipient) {
        this.record = record;
        this.recipient = recipient;
    }
    /**
     * Reads the body of an upload, or what was stored of it, with all day keys. Demand both of apps that use the library's {@code
     * DeviceIdentity} as it is. Refuses it with tooLarge, malformed, unsupportedKey, unsupportedSuite, invalidKey, kidMismatch, wrongKind,
     * pskMissing, notAsymmetric; a device set with notAuthentic, otherRegistration.
     */
    public static Registration fromJson(String record, Demand... demands) {
        Recipient recipient = Flaw.coded("malformed", "the record", () -> {
            int size = Bytes.utf8(record).length;
            // Each character of a device set may be escaped.
            Flaw.unless(size <= MAX_SIZE + 6 * DeviceSet.MAX_SIZE, "tooLarge", "the record is longer than a record can be");
            Json.Obj jwk = Json.parse(record);
            int sizeOfSet = jwk.has("deviceSet") ? Bytes.utf8(jwk.raw("deviceSet")).length : 0;
            Flaw.unless(size - sizeOfSet <= MAX_SIZE, "tooLarge", "the record has more than 4,096 bytes beside its device set");
            Flaw.unless(!jwk.has("device") || Key.isId(jwk.get("device")), "its device id has another form");
            try {
                Key key = Key.read(jwk, true);
                if (key.days() != null) key.days().checkKeys();
                return new Recipient(key);
            } catch (PushCryptException e) { // Both are faults of the device set.
                throw List.of("pskMissing", "duplicateKey").contains(e.code()) ? new Flaw(e.reason()) : e;
            }
        });
        List<Demand> demanded = List.of(demands);
        boolean isSecret = Envelope.provesSender(recipient.key, false);
        Flaw.unless(isSecret || !demanded.contains(Demand.PSK), "pskMissing", "key " + recipient.kid() + " has no psk");
        Flaw.unless(!demanded.contains(Demand.ASYMMETRIC) || recipient.suite() != 4, "notAsymmetric", "key " + recipient.kid() + " is shared");
        return new Registration(record, recipient);
    }
    private byte[] bytes() { return Bytes.utf8(record); }
    /** The upload as it came. Store it with the account and the device token. */
    public String record() { return record; }
    /** The key to seal to. */
    public Recipient recipient() { return recipient; }
    /** The id of the key. */
    public String kid() { return recipient.kid(); }
    @Override public boolean equals(Object other) { return other instanceof Registration that && MessageDigest.isEqual(bytes(), that.bytes()); }
    @Override public int hashCode() { return kid().hashCode(); }
    /** A row of the backend's table. {@code environment} is that of APNs, {@code sandbox} or {@code production}, or null. */
    public record Row(Registration registration, String account, String deviceToken, String environment) {
        private String kid() { return registration.kid(); }
        private DeviceSet days() { return registration.recipient.key.days(); }
        private int rank() { return Keyset.rank(registration.recipient.suite()); }
    }
    /** What an upload changes in the table: whether it is written, and the kids of the rows to remove. */
    public record Change(boolean isWritten, List<String> removed) {
        /**
         * Decides what to do with the upload of a signed-in account. Read the rows with its kid or device token, decide, and write in one
         * transaction. {@code isProven} if the device has answered a challenge for the record; {@code allowsLowerSuite} only if it is known to
         * have lost the suite of its key. Throws {@link PushCryptException}: conflict, otherAccount, suiteTooLow, rolledBack.
         */
        public static Change storing(Row upload, Collection<Row> rows, boolean isProven, boolean allowsLowerSuite) {
            String name = "key " + upload.kid();
            Row present = rows.stream().filter(row -> row.kid().equals(upload.kid())).findFirst().orElse(upload);
            // An attacker can make two keys with one kid of 64 bits.
            boolean isSame = present.registration.recipient.key.equals(upload.registration.recipient.key);
            Flaw.unless(isSame, "conflict", name + " is stored with another key or psk, which is never replaced");
            Flaw.unless(isProven || present.account.equals(upload.account), "otherAccount", name + " belongs to another account");
            DeviceSet stored = present.days(), days = upload.days();
            boolean isNewer = stored == null || days == null || days.sequence > stored.sequence;
            Flaw.unless(isNewer || days.sequence == stored.sequence, "rolledBack", "a newer device set of " + name + " is stored");
            Flaw.unless(isNewer || days.text.equals(stored.text), "conflict", "another device set of " + name + " with the same seq is stored");
            List<Row> replaced = rows.stream().filter(row -> row.deviceToken.equals(upload.deviceToken) && !row.kid().equals(upload.kid())).toList();
            // The row of another account doesn't count: its user could keep the next user of the device from registering.
            boolean isLower = replaced.stream().anyMatch(row -> row.account.equals(upload.account) && row.rank() > upload.rank());
            Flaw.unless(!isLower || allowsLowerSuite, "suiteTooLow", name + " would replace a key of a higher suite");
            return new Change(!rows.contains(upload), replaced.stream().map(Row::kid).toList());
        }
    }
}
