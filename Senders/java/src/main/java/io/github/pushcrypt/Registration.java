package io.github.pushcrypt;

import io.github.pushcrypt.PushCryptException.Flaw;
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
     * Reads the body of an upload, or what was stored of it. Demand both of apps that use the library's {@code DeviceIdentity} as it is. Throws
     * {@link PushCryptException}: {@code tooLarge}, {@code malformed}, {@code unsupportedKey}, {@code unsupportedSuite}, {@code invalidKey},
     * {@code kidMismatch}, {@code wrongKind} for a private key or one that signs, {@code pskMissing}, {@code notAsymmetric}.
     */
    public static Registration fromJson(String record, Demand... demands) {
        Recipient recipient = PushCryptException.reading("malformed", "the record", () -> {
            byte[] text = Bytes.utf8(record);
            if (text.length > MAX_SIZE) throw new PushCryptException("tooLarge", "the record has more than 4,096 bytes");
            return new Recipient(key(Json.parse(text)));
        });
        List<Demand> demanded = List.of(demands);
        if (demanded.contains(Demand.PSK) && !recipient.provesSender()) throw new PushCryptException("pskMissing", "key " + recipient.kid() + " has no psk");
        if (demanded.contains(Demand.ASYMMETRIC) && recipient.suite() == 4) throw new PushCryptException("notAsymmetric", recipient.kid() + " is shared");
        return new Registration(record, recipient);
    }
    private static Key key(Json.Obj jwk) {
        try {
            return Key.read(jwk, true);
        } catch (PushCryptException e) {
            throw e.code().equals("invalidDeviceID") ? new Flaw("it has no device id") : e;
        }
    }
    /** The upload as it came. Store it with the account and the device token. */
    public String record() { return record; }
    /** The key to seal to. */
    public Recipient recipient() { return recipient; }
    /** The id of the key. */
    public String kid() { return recipient.kid(); }
    @Override public boolean equals(Object other) { return other instanceof Registration that && record.equals(that.record); }
    @Override public int hashCode() { return kid().hashCode(); }
    /** A row of the backend's table. {@code environment} is that of APNs, {@code sandbox} or {@code production}, or null. */
    public record Row(Registration registration, String account, String deviceToken, String environment) {
        private String kid() { return registration.kid(); }
    }
    /** What an upload changes in the table: whether it is written, and the kids of the rows to remove. */
    public record Change(boolean isWritten, List<String> removed) {
        /**
         * Decides what to do with the upload of a signed-in account. Read the rows with its kid or device token, decide, and write in one
         * transaction. {@code isProven} if the device has answered a challenge for the record; {@code allowsLowerSuite} only if it is known to
         * have lost the suite of its key. Throws {@link PushCryptException}: {@code conflict}, {@code otherAccount}, {@code suiteTooLow}.
         */
        public static Change storing(Row upload, Collection<Row> rows, boolean isProven, boolean allowsLowerSuite) {
            Row present = rows.stream().filter(row -> row.kid().equals(upload.kid())).findFirst().orElse(null);
            // An attacker can make two keys with one kid of 64 bits.
            boolean isOther = present != null && !present.registration.recipient.equals(upload.registration.recipient);
            if (isOther) throw new PushCryptException("conflict", "another key with the id " + upload.kid() + " is stored; it is never replaced");
            boolean isForeign = present != null && !isProven && !present.account.equals(upload.account);
            if (isForeign) throw new PushCryptException("otherAccount", "key " + upload.kid() + " belongs to another account");
            List<Row> replaced = rows.stream().filter(row -> row.deviceToken.equals(upload.deviceToken) && !row.kid().equals(upload.kid())).toList();
            // The row of another account doesn't count: its user could keep the next user of the device from registering.
            boolean isLower = replaced.stream().anyMatch(row -> row.account.equals(upload.account)
                    && Keyset.rank(row.registration.recipient.suite()) > Keyset.rank(upload.registration.recipient.suite()));
            if (isLower && !allowsLowerSuite) throw new PushCryptException("suiteTooLow", upload.kid() + " would replace a key of a higher suite");
            return new Change(!upload.equals(present), replaced.stream().map(Row::kid).toList());
        }
    }
}
