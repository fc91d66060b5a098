package io.github.pushcrypt;

import static io.github.pushcrypt.Form.*;

import io.github.pushcrypt.Json.*;
import io.github.pushcrypt.KeysetFile.Point;
import java.util.*;
import java.util.regex.*;

/** What the log of a keyset's file says (docs/keyset-log.md). */
final class KeysetLog {
    private static final Form NUMBER = integer(1, 1L << 52), KID = base64(8), ID = base64(16), HASH = base64(32), TOPIC = Sealer::isTopic;
    private static final Form OWN_ID = value -> ID.fits(value) && !value.toString().startsWith("-"), DURATION = value -> seconds(value) >= 0;
    private static final Form EPOCH = value -> Json.isInteger(new Num((String) value), 0, Json.MAX_INTEGER), MOMENT = orNull(TIME);
    private static final Form PERCENT = value -> value instanceof Num number && number.text().matches("[0-9]{1,3}(?:\\.[0-9]{1,3})?")
            && Double.parseDouble(number.text()) <= 100;
    private static final Form POLICY = value -> object("rotateEvery", DURATION, "publishLead", DURATION, "overlap", DURATION, "keep", integer(1, 100),
            "?requireCoverage", PERCENT).fits(value) && seconds(((Obj) value).get("rotateEvery")) > seconds(((Obj) value).get("publishLead"));
    private static final Form CHANGE = object("?jwk", OBJECT, "?psk", TRUE, "?lost", orNull(TRUE), "?createdAt", MOMENT, "?activatesAt", MOMENT,
            "?retiresAt", MOMENT, "?expiresAt", MOMENT, "?revokedAt", MOMENT, "?destroyedAt", MOMENT);
    private static final Form LINE = object("n", NUMBER, "at", TIME, "who", TEXT, "prev", HASH, "what", oneOf("created", "rotated", "imported",
            "revoked", "destroyed", "policy", "secrets", "published", "restored", "clockCorrected"), "?why", TEXT, "?r", ID, "?id", OWN_ID,
            "?kind", oneOf("recipient", "sender", "shared", "publisher"), "?keys", Form.map(KID, CHANGE, 0), "?policy", POLICY,
            "?publication", object("topics", list(TOPIC, 1, 16, true), "validFor", DURATION), "?epochs", Form.map(EPOCH, orNull(ID), 0),
            "?writer", TEXT, "?secrets", list(NAME, 0, 8, true), "?over", list(object("n", NUMBER, "hash", HASH), 1, Integer.MAX_VALUE, false),
            "?revoked", Form.map(KID, TIME, 1), "?issuedAt", TIME, "?validUntil", TIME, "?epoch", integer(0, Json.MAX_INTEGER),
            "?publisher", object("id", ID, "n", NUMBER, "hash", HASH));
    /** The members that only lines of these actions have. */
    private static final Map<String, List<String>> PLACES = Map.of("id", List.of("created"), "kind", List.of("created"), "over", List.of("restored"),
            "revoked", List.of("restored"), "issuedAt", List.of("published", "restored"), "epoch", List.of("published"),
            "validUntil", List.of("published"), "publisher", List.of("published"));
    private static final Pattern LENGTH =
            Pattern.compile("P(?=.)(?:([0-9]{1,10})W)?(?:([0-9]{1,10})D)?(?:T(?=.)(?:([0-9]{1,10})H)?(?:([0-9]{1,10})M)?(?:([0-9]{1,10})S)?)?");
    private static final long LONGEST_VALIDITY = 90 * 86_400;
    /** A key of the log, without its material; {@code key} is null if it is shared. */
    record LoggedKey(String kid, Key key, Map<String, Long> times, boolean hasPsk, boolean isLost) {
        boolean hasMaterial() { return !isLost && !times.containsKey("destroyedAt"); }
    }
    final Map<String, LoggedKey> keys = new LinkedHashMap<>();
    final Map<String, Long> revoked = new HashMap<>();
    final Set<Point> points = new LinkedHashSet<>();
    Set<String> secrets = Set.of();
    String id, kind;
    long at;
    Long issuedAt;
    Point head = new Point(0, Bytes.base64(new byte[32]));
    private final Map<String, Boolean> epochs = new HashMap<>();
    /** Checks the form of a line and its place behind the others, and takes what it says. */
    void add(byte[] row) {
        Obj line = Json.parse(Bytes.text(row), true);
        LINE.fits(line);
        Flaw.unless(line.has("why") == line.has("r"), "why and r aren't together");
        String what = line.string("what");
        boolean isFirst = head.n() == 0;
        long n = line.integer("n", 1, 1L << 52), time = line.time("at");
        Flaw.unless(n == head.n() + 1 || n > head.n() && what.equals("restored"), "wrongNumber", "n isn't the next number");
        Flaw.unless(line.string("prev").equals(head.hash()), "brokenChain", "prev isn't the hash of the line before");
        Flaw.unless(isFirst || time >= at || what.equals("clockCorrected"), "timeWentBack", "at is before that of the line before");
        Flaw.unless(what.equals("created") == isFirst, "misplaced", "line 1 alone is created");
        PLACES.forEach((name, actions) -> Flaw.unless(!line.has(name) || actions.contains(what), "misplaced", "a line " + what + " has no " + name));
        if (isFirst) id = line.string("id");
        if (isFirst) kind = line.string("kind");
        boolean publishes = line.has("publication") || !line.members("epochs").isEmpty();
        Flaw.unless((!publishes || kind.equals("sender")) && (!line.has("policy") || !kind.equals("publisher")), "misplaced",
                "a keyset of another kind has such a member");
        line.members("keys").forEach((kid, change) -> changeKey(kid, (Obj) change));
        line.members("revoked").forEach((kid, moment) -> {
            Flaw.unless(!keys.containsKey(kid), "misplaced", "the log has a key of revoked");
            revoked.putIfAbsent(kid, Keyset.seconds(moment, kid));
        });
        if (line.has("secrets")) secrets = Set.copyOf(line.list("secrets", 0, 8).stream().map(String.class::cast).toList());
        line.members("epochs").forEach((epoch, keyset) -> epochs.put(epoch, keyset != null));
        checkPublication(line, what);
        at = time;
        head = new Point(n, Bytes.base64(Bytes.sha256(row)));
        points.add(head);
        List<?> abandoned = line.has("over") ? line.list("over", 1, Integer.MAX_VALUE) : List.of();
        abandoned.forEach(one -> points.add(new Point(((Obj) one).integer("n", 1, 1L << 52), ((Obj) one).string("hash"))));
    }
    private void changeKey(String kid, Obj change) {
        LoggedKey known = keys.get(kid);
        Flaw.unless(known == null || !change.has("jwk") && !change.has("psk"), "misplaced", "key " + kid + " is known: it gets no jwk and no psk");
        if (known == null) known = newKey(kid, change);
        Map<String, Long> times = new HashMap<>(known.times);
        for (String moment : Keyset.MOMENTS) {
            boolean isFinal = (moment.equals("revokedAt") || moment.equals("destroyedAt")) && times.containsKey(moment);
            if (change.has(moment) && !isFinal) times.remove(moment);
            if (change.get(moment) != null && !isFinal) times.put(moment, change.time(moment));
        }
        keys.put(kid, new LoggedKey(kid, known.key, times, known.hasPsk, change.has("lost") ? change.get("lost") != null : known.isLost));
    }
    private LoggedKey newKey(String kid, Obj change) {
        Flaw.unless(!revoked.containsKey(kid), "misplaced", "key " + kid + " was revoked before it was added");
        Flaw.unless(!change.has("psk") || kind.equals("recipient"), "misplaced", "only a recipient's key has a psk");
        Key key = change.has("jwk") ? record(change.get("jwk"), false) : null;
        Flaw.unless(key == null || key.secret() == null && key.psk() == null, "the jwk of key " + kid + " has a secret");
        Flaw.unless((key == null) == kind.equals("shared"), "misplaced", "key " + kid + " is new and has no jwk, or is shared and has one");
        Flaw.unless(key == null || key.kind().equals(kind), "wrongKind", "key " + kid + " isn't of the keyset's kind");
        Flaw.unless(key == null || key.kid().equals(kid), "kidMismatch", "the jwk of key " + kid + " is another key");
        return new LoggedKey(kid, key, Map.of(), change.has("psk"), false);
    }
    private void checkPublication(Obj line, String what) {
        boolean isSigned = line.has("epoch"), isComplete = isSigned == line.has("validUntil") && (isSigned || !line.has("publisher"));
        Flaw.unless(isComplete && (!what.equals("published") || line.has("issuedAt")), "issuedAt is missing, or epoch is without validUntil");
        if (!line.has("issuedAt")) return;
        long issued = line.time("issuedAt"), validity = isSigned ? line.time("validUntil") - issued : 1;
        Flaw.unless(issuedAt == null || issued >= issuedAt, "timeWentBack", "issuedAt is before an earlier one");
        Flaw.unless(!isSigned || epochs.getOrDefault(line.raw("epoch"), false), "unknownEpoch", "epoch isn't one of the epochs");
        Flaw.unless(validity > 0 && validity <= LONGEST_VALIDITY, "validUntil isn't within 90 days after issuedAt");
        issuedAt = issued;
    }
    /** Whether a line revokes the key, also one of a log that a restoration abandons. */
    boolean isRevoked(String kid) { return revoked.containsKey(kid) || keys.containsKey(kid) && keys.get(kid).times.containsKey("revokedAt"); }
    /** A key of the log with its material and times. Of a recipient's key only the public half is kept. */
    Keyset.Entry entry(Key key) {
        Map<String, Long> times = new HashMap<>(keys.get(key.kid()).times);
        // A revocation counts at once, also if its time is to come.
        times.computeIfPresent("revokedAt", (name, time) -> Math.min(time, at));
        return new Keyset.Entry(key.type().isPair() ? key.publicHalf(true) : key, times, key.psk() != null);
    }
    /** A key record without members that key records don't have. */
    static Key record(Object jwk, boolean isChecked) {
        try {
            Key key = Key.read(jwk, isChecked);
            Flaw.unless(key.record(true).keySet().equals(((Map<?, ?>) jwk).keySet()), "the JWK of key " + key.kid() + " has an unknown member");
            return key;
        } catch (PushCryptException e) {
            boolean isKept = e.code().equals("unsupportedSuite") || e.code().equals("kidMismatch") && !isChecked;
            throw isKept ? e : new Flaw(e.reason());
        }
    }
    /** The seconds of a duration of ISO 8601 with weeks, days, hours, minutes and seconds, of at most 100 years; otherwise -1. */
    private static long seconds(Object duration) {
        Matcher match = LENGTH.matcher(duration instanceof String text ? text : "");
        long[] units = {604_800, 86_400, 3_600, 60, 1};
        long seconds = match.matches() ? 0 : -1;
        for (int unit = 0; seconds >= 0 && unit < 5; unit++) {
            if (match.group(unit + 1) != null) seconds += Long.parseLong(match.group(unit + 1)) * units[unit];
        }
        return seconds <= 36_525 * 86_400L ? seconds : -1;
    }
}
