package io.github.pushcrypt;

import static io.github.pushcrypt.Form.*;
import static io.github.pushcrypt.PushCryptException.unless;
import static java.util.Map.entry;

import io.github.pushcrypt.Json.*;
import io.github.pushcrypt.PushCryptException.Flaw;
import java.util.*;
import java.util.regex.*;

/** What the log of a keyset's file says (docs/keyset-log.md). */
public final class KeysetLog {
    private static final Form NUMBER = integer(1, 1L << 52), KID = base64(8), ID = base64(16), DURATION = value -> seconds(value) >= 0;
    private static final Form EPOCH = value -> Json.isInteger(new Num((String) value), 0, Json.MAX_INTEGER);
    private static final Form POINT = object(Map.of("n", NUMBER, "hash", base64(32)), Map.of());
    private static final Form PERCENT = value -> value instanceof Num number && number.text().matches("[0-9]{1,3}(?:\\.[0-9]{1,3})?")
            && Double.parseDouble(number.text()) <= 100;
    private static final Form POLICY = object(Map.of("rotateEvery", DURATION, "publishLead", DURATION, "overlap", DURATION, "keep", integer(1, 100)),
            Map.of("requireCoverage", PERCENT));
    private static final Form CHANGE = object(Map.of(), Map.of("jwk", Obj.class::isInstance, "psk", TRUE, "lost", orNull(TRUE), "createdAt", orNull(TIME),
            "activatesAt", orNull(TIME), "retiresAt", orNull(TIME), "expiresAt", orNull(TIME), "revokedAt", orNull(TIME), "destroyedAt", orNull(TIME)));
    private static final Form LINE = object(
            Map.of("n", NUMBER, "at", TIME, "who", TEXT, "prev", base64(32), "what", oneOf("created", "rotated", "imported", "revoked", "destroyed", "policy",
                    "secrets", "published", "restored", "clockCorrected")),
            Map.ofEntries(entry("why", TEXT), entry("r", base64(16)), entry("id", value -> ID.fits(value) && !value.toString().startsWith("-")),
                    entry("kind", oneOf("recipient", "sender", "shared", "publisher")), entry("keys", Form.map(KID, CHANGE, 0)),
                    entry("policy", value -> POLICY.fits(value) && seconds(((Obj) value).get("rotateEvery")) > seconds(((Obj) value).get("publishLead"))),
                    entry("publication", object(Map.of("topics", list(Sealer::isTopic, 1, 16, true), "validFor", DURATION), Map.of())),
                    entry("epochs", Form.map(EPOCH, orNull(ID), 0)), entry("writer", TEXT), entry("secrets", list(NAME, 0, 8, true)),
                    entry("over", list(POINT, 1, Integer.MAX_VALUE, false)), entry("revoked", Form.map(KID, TIME, 1)), entry("issuedAt", TIME),
                    entry("validUntil", TIME), entry("epoch", integer(0, Json.MAX_INTEGER)),
                    entry("publisher", object(Map.of("id", ID, "n", NUMBER, "hash", base64(32)), Map.of()))));
    /** The members that only lines of these actions have. */
    private static final Map<String, List<String>> PLACES = Map.of("issuedAt", List.of("published", "restored"), "over", List.of("restored"),
            "revoked", List.of("restored"), "epoch", List.of("published"), "validUntil", List.of("published"), "publisher", List.of("published"));
    private static final long LONGEST_VALIDITY = 90 * 86_400;
    /** The number and the hash (base64url) of a line. Store that of the last line that you have seen. */
    public record Point(long n, String hash) {}
    /** A key of the log, without its material; {@code key} is null if it is shared. */
    record LoggedKey(String kid, Key key, Map<String, Long> times, boolean hasPsk, boolean isLost) {
        boolean hasMaterial() { return !isLost && !times.containsKey("destroyedAt"); }
    }
    String id, kind;
    long number, at;
    int rows;
    Long issuedAt;
    Set<String> secrets = Set.of();
    final Map<String, LoggedKey> keys = new LinkedHashMap<>();
    final Map<String, Long> revoked = new HashMap<>();
    final List<Point> points = new ArrayList<>();
    private Point head;
    private final Map<String, Boolean> epochs = new HashMap<>();
    KeysetLog() {}
    /** The keyset's id, which never changes. */
    public String id() { return id; }
    /** The kind of its keys: {@code recipient}, {@code sender}, {@code shared} or {@code publisher}. */
    public String kind() { return kind; }
    /** The point of the last line. */
    public Point head() { return head; }
    /** Whether the log has a point, or a person has abandoned it. */
    public boolean extend(Point seen) { return points.contains(seen); }
    /** Checks the form of a line and its place behind the others, and takes what it says. */
    KeysetLog add(byte[] row) {
        Obj line = Json.parse(row, true);
        LINE.fits(line);
        Flaw.unless(line.has("why") == line.has("r"), "why and r aren't together");
        String what = line.string("what");
        boolean isFirst = head == null;
        long n = line.integer("n", 1, Long.MAX_VALUE), time = line.time("at");
        unless(n == number + 1 || n > number && what.equals("restored"), "wrongNumber", "n isn't the next number");
        unless(line.string("prev").equals(isFirst ? Bytes.base64(new byte[32]) : head.hash), "brokenChain", "prev isn't the hash of the line before");
        unless(isFirst || time >= at || what.equals("clockCorrected"), "timeWentBack", "at is before that of the line before");
        unless(what.equals("created") == isFirst && (isFirst || !line.has("id") && !line.has("kind")), "misplaced", "line 1 alone is created, with id and kind");
        id = isFirst ? line.string("id") : id;
        kind = isFirst ? line.string("kind") : kind;
        PLACES.forEach((name, actions) -> unless(!line.has(name) || actions.contains(what), "misplaced", "a line " + what + " has no " + name));
        boolean publishes = line.has("publication") || !line.members("epochs").isEmpty();
        unless((!publishes || kind.equals("sender")) && (!line.has("policy") || !kind.equals("publisher")), "misplaced", "a keyset of another kind has such a member");
        line.members("keys").forEach((kid, change) -> changeKey(kid, (Obj) change));
        line.members("revoked").forEach((kid, moment) -> {
            unless(!keys.containsKey(kid), "misplaced", "the log has a key of revoked");
            revoked.putIfAbsent(kid, Keyset.seconds(moment, kid));
        });
        if (line.has("secrets")) secrets = Set.copyOf(line.list("secrets", 0, 8).stream().map(String.class::cast).toList());
        line.members("epochs").forEach((epoch, keyset) -> epochs.put(epoch, keyset != null));
        checkPublication(line, what);
        rows++;
        number = n;
        at = time;
        head = new Point(n, Bytes.base64(Bytes.sha256(row)));
        points.add(head);
        if (line.has("over")) ((List<?>) line.get("over")).forEach(one -> points.add(new Point(((Obj) one).integer("n", 1, 1L << 52), ((Obj) one).string("hash"))));
        return this;
    }
    private void changeKey(String kid, Obj change) {
        LoggedKey known = keys.get(kid);
        unless(known == null || !change.has("jwk") && !change.has("psk"), "misplaced", "key " + kid + " is known: it gets no jwk and no psk");
        if (known == null) known = newKey(kid, change);
        Map<String, Long> times = new HashMap<>(known.times);
        for (String moment : Keyset.MOMENTS) {
            boolean isFinal = (moment.equals("revokedAt") || moment.equals("destroyedAt")) && times.containsKey(moment);
            if (change.has(moment) && !isFinal) times.compute(moment, (name, before) -> change.get(moment) == null ? null : (Long) change.time(moment));
        }
        keys.put(kid, new LoggedKey(kid, known.key, times, known.hasPsk, change.has("lost") ? change.get("lost") != null : known.isLost));
    }
    private LoggedKey newKey(String kid, Obj change) {
        unless(!revoked.containsKey(kid), "misplaced", "key " + kid + " was revoked before it was added");
        unless(!change.has("psk") || kind.equals("recipient"), "misplaced", "only a recipient's key has a psk");
        Key key = change.has("jwk") ? record(change.get("jwk"), false) : null;
        if (key != null && (key.secret() != null || key.psk() != null)) throw new Flaw("the jwk of key " + kid + " has a secret");
        unless((key == null) == kind.equals("shared"), "misplaced", "key " + kid + " is new and has no jwk, or is shared and has one");
        unless(key == null || key.kind().equals(kind), "wrongKind", "key " + kid + " isn't of the keyset's kind");
        unless(key == null || key.kid().equals(kid), "kidMismatch", "the jwk of key " + kid + " is another key");
        return new LoggedKey(kid, key, Map.of(), change.has("psk"), false);
    }
    private void checkPublication(Obj line, String what) {
        boolean isSigned = line.has("epoch"), isComplete = isSigned == line.has("validUntil") && (isSigned || !line.has("publisher"));
        if (!isComplete || what.equals("published") && !line.has("issuedAt")) throw new Flaw("issuedAt is missing, or epoch and validUntil aren't together");
        if (!line.has("issuedAt")) return;
        long issued = line.time("issuedAt");
        unless(issuedAt == null || issued >= issuedAt, "timeWentBack", "issuedAt is before an earlier one");
        unless(!isSigned || epochs.getOrDefault(line.raw("epoch"), false), "unknownEpoch", "epoch isn't one of the epochs");
        long validity = isSigned ? line.time("validUntil") - issued : 1;
        if (validity <= 0 || validity > LONGEST_VALIDITY) throw new Flaw("validUntil isn't within 90 days after issuedAt");
        issuedAt = issued;
    }
    /** A key record without members that key records don't have. */
    static Key record(Object jwk, boolean isChecked) {
        try {
            Key key = Key.read(jwk, isChecked);
            if (key.record(true).equals(jwk)) return key;
            throw new Flaw("the JWK of key " + key.kid() + " has a member that key records don't have");
        } catch (PushCryptException e) {
            boolean isKept = e.code().equals("unsupportedSuite") || e.code().equals("kidMismatch") && !isChecked;
            throw isKept ? e : new Flaw(e.reason());
        }
    }
    /** The seconds of a duration of ISO 8601 with weeks, days, hours, minutes and seconds, of at most 100 years; otherwise -1. */
    private static long seconds(Object duration) {
        Matcher match = Pattern.compile("P(?=.)(?:([0-9]{1,10})W)?(?:([0-9]{1,10})D)?(?:T(?=.)(?:([0-9]{1,10})H)?(?:([0-9]{1,10})M)?(?:([0-9]{1,10})S)?)?")
                .matcher(duration instanceof String text ? text : "");
        long[] units = {604_800, 86_400, 3_600, 60, 1};
        long seconds = match.matches() ? 0 : -1;
        for (int unit = 0; seconds >= 0 && unit < units.length; unit++) seconds += match.group(unit + 1) == null ? 0 : Long.parseLong(match.group(unit + 1)) * units[unit];
        return seconds <= 36_525 * 86_400L ? seconds : -1;
    }
}
