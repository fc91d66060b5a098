package io.github.pushcrypt;

import io.github.pushcrypt.Json.Obj;
import java.time.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.Stream;

/** Keys of one kind with their times: a published JWK set, or the keys of a {@link KeysetFile} (PROTOCOL sections 3 and 9). */
public final class Keyset implements Sealer.Signer {
    static final List<String> MOMENTS = List.of("createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt", "destroyedAt");
    private static final Pattern TIME = 
            Pattern.compile("(\\d{4}-\\d\\d-\\d\\d)[Tt](\\d\\d:\\d\\d):(\\d\\d)(?:\\.\\d+)?(?:[Zz]|([+-])(\\d\\d:\\d\\d))");
    /** The greatest (activatesAt, createdAt, kid bytes) is the newest. */
    private static final Comparator<Entry> AGE = Comparator.comparing((Entry entry) -> entry.times.get("activatesAt"))
            .thenComparing(entry -> entry.times.getOrDefault("createdAt", Long.MIN_VALUE)).thenComparing(entry -> entry.key.kid());
    final List<Entry> entries;
    private final String kind;
    private final long sequence, updatedAt;
    /** One key, with its times in Unix seconds. */
    record Entry(Key key, Map<String, Long> times, boolean demandsPsk) {
        private boolean hasCome(String moment, long now) { return times.getOrDefault(moment, Long.MAX_VALUE) <= now; }
        boolean seals(long now) { return hasCome("activatesAt", now) && !hasCome("retiresAt", now) && state(now).equals("retiring"); }
        String state(long now) {
            if (times.containsKey("destroyedAt")) return "destroyed";
            if (hasCome("revokedAt", now) || hasCome("expiresAt", now)) return hasCome("revokedAt", now) ? "revoked" : "expired";
            return hasCome("activatesAt", now) || hasCome("retiresAt", now) ? "retiring" : "pending";
        }
        Recipient recipient() {
            Recipient recipient = new Recipient(key);
            Flaw.unless(!demandsPsk || key.psk() != null, "pskMissing", key.kid() + " needs the psk of its registration record");
            return recipient;
        }
    }
    Keyset(List<Entry> entries, String kind, long sequence, long updatedAt) {
        this.entries = entries;
        this.kind = kind;
        this.sequence = sequence;
        this.updatedAt = updatedAt;
        Flaw.unless(entries.stream().allMatch(entry -> entry.key.kind().equals(kind)), "wrongKind", "it has keys of several kinds");
        boolean isDistinct = entries.stream().map(entry -> entry.key.kid()).distinct().count() == entries.size();
        Flaw.unless(isDistinct, "duplicateKey", "the set has two keys of one kid");
    }
    /**
     * Reads a JWK set, or one JWK, whose key always seals. Refuses it with malformed, unsupportedKey, unsupportedSuite, invalidKey, kidMismatch,
     * duplicateKey, wrongKind, invalidDeviceID, or tooLarge for more than 4 MiB; of a device set also pskMissing, notAuthentic or otherRegistration.
     */
    public static Keyset fromJson(String text) { return Flaw.coded("malformed", "the key record or set", () -> read(text)); }
    /** As {@link #fromJson(String)}. A set with a lower {@link #sequence} than one that you have seen is refused with {@code rolledBack}. */
    public static Keyset fromJson(String text, long minimumSequence) {
        Keyset keyset = fromJson(text);
        Flaw.unless(keyset.sequence >= minimumSequence, "rolledBack", "the set has the seq " + keyset.sequence + ", and a higher one was seen");
        return keyset;
    }
    private static Keyset read(String text) {
        Flaw.unless(Bytes.utf8(text).length <= KeysetFile.MAX_SIZE, "tooLarge", "the set has more than 4 MiB");
        Obj root = Json.parse(text);
        List<?> records = root.has("keys") ? root.list("keys", 1, Integer.MAX_VALUE) : List.of(root);
        List<Key> keys = records.stream().map(record -> Key.read(record, true)).toList();
        String kind = keys.get(0).kind();
        if (!root.has("keys") || !root.has("pushcrypt")) {
            Flaw.unless(keys.size() == 1, "it has several keys and no times");
            return new Keyset(List.of(new Entry(keys.get(0), Map.of("activatesAt", 0L), false)), kind, 0, Long.MIN_VALUE);
        }
        Obj member = root.members("pushcrypt"), times = Json.object(member.get("keys"), "keys of pushcrypt");
        long sequence = member.integer("seq", 0, Json.MAX_INTEGER), updatedAt = member.has("updatedAt") ? member.time("updatedAt") : Long.MIN_VALUE;
        return new Keyset(keys.stream().map(key -> entry(key, times.get(key.kid()))).toList(), kind, sequence, updatedAt);
    }
    private static Entry entry(Key key, Object value) {
        Obj member = Json.object(value, "the entry of key " + key.kid());
        Flaw.unless(!member.has("psk") || Boolean.TRUE.equals(member.get("psk")) && key.type().isPair(), "psk of " + key.kid() + " isn't true");
        Map<String, Long> times = new HashMap<>();
        MOMENTS.stream().filter(member::has).forEach(moment -> times.put(moment, member.time(moment)));
        return new Entry(key, times, member.has("psk"));
    }
    /** Unix seconds of a date-time of RFC 3339, of the years 0 to 9999 in UTC. A leap second counts as the second after it. */
    static long seconds(Object value, String name) {
        Matcher match = TIME.matcher(value instanceof String text ? text : "");
        try {
            if (match.matches() && Integer.parseInt(match.group(3)) <= 60) {
                LocalDateTime minute = LocalDate.parse(match.group(1)).atTime(LocalTime.parse(match.group(2)));
                long offset = match.group(4) == null ? 0 : LocalTime.parse(match.group(5)).toSecondOfDay();
                long utc = minute.toEpochSecond(ZoneOffset.UTC) + Integer.parseInt(match.group(3)) + ("-".equals(match.group(4)) ? offset : -offset);
                if (utc >= -62_167_219_200L && utc < 253_402_300_800L) return utc;
            }
        } catch (DateTimeException e) {
            // Refused below.
        }
        throw new Flaw(name + " isn't a date-time of RFC 3339 of the years 0000 to 9999");
    }
    /** {@code recipient}, {@code shared}, {@code sender} or {@code publisher}. */
    public String kind() { return kind; }
    /** Grows with every change of a published set. Store it, and refuse a set with a lower one. */
    public long sequence() { return sequence; }
    /** The only key of a set, which has no end, if it seals now. */
    Entry only() {
        boolean ends = Stream.of("retiresAt", "expiresAt", "revokedAt").anyMatch(entries.get(0).times::containsKey);
        Flaw.unless(entries.size() == 1 && !ends, "malformed", "this is a set of keys with times: choose one of a Keyset");
        return required(Instant.now());
    }
    /** The clock's time or the time of the last write, whichever is later. */
    private long effective(Instant at) { return Math.max(at.getEpochSecond(), updatedAt); }
    Optional<Entry> primary(Instant at) { return entries.stream().filter(entry -> entry.seals(effective(at))).max(AGE); }
    /** {@code pending}, {@code primary}, {@code retiring}, {@code expired}, {@code revoked} or {@code destroyed} by kid, at a time. */
    public Map<String, String> states(Instant at) {
        Map<String, String> states = new LinkedHashMap<>();
        entries.forEach(entry -> states.put(entry.key.kid(), entry.state(effective(at))));
        primary(at).ifPresent(entry -> states.put(entry.key.kid(), "primary"));
        return states;
    }
    Entry required(Instant at) {
        return primary(at).orElseThrow(() -> new PushCryptException("noKeySeals", "no key of the set is active at this time: fetch or rotate it"));
    }
    /** The sender key that signs at a time. */
    @Override public SenderKey keyAt(Instant at) { return new SenderKey(required(at).key); }
    /**
     * The key to seal to at a time. {@code allowsLowerSuite} if an operator has decided that the newest key may rank below an older one.
     * Throws {@link PushCryptException}: noKeySeals, suiteTooLow, wrongKind, pskMissing.
     */
    public Recipient recipientAt(Instant at, boolean allowsLowerSuite) {
        List<Entry> dated = entries.stream().filter(entry -> entry.times.containsKey("activatesAt")).toList();
        int highest = dated.stream().mapToInt(entry -> rank(entry.key.type().suite)).max().orElse(0);
        boolean isLower = dated.stream().max(AGE).filter(newest -> rank(newest.key.type().suite) < highest).isPresent();
        Flaw.unless(!isLower || allowsLowerSuite, "suiteTooLow", "the newest key of the set has a lower suite than an older one");
        return required(at).recipient();
    }
    /** Messages of suites 3 and 4 stay secret from a later quantum computer. */
    static int rank(int suite) { return suite >= 3 ? 1 : 0; }
}
