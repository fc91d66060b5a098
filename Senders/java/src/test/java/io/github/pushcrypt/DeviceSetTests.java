package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;
import static io.github.pushcrypt.SealingTests.*;

import io.github.pushcrypt.Json.Obj;
import java.security.*;
import java.security.interfaces.ECPrivateKey;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;

/** Day keys (PROTOCOL section 14): device-sets-v1.json, and what a program sees of them. */
final class DeviceSetTests {
    private static final long DAY = 86_400, MIDNIGHT = AT - AT % DAY, NOON = MIDNIGHT + DAY / 2;
    private static final SenderKey SIGNER = Bytes.crypto(() -> new SenderKey(named("sender")));

    private DeviceSetTests() {}

    /** A private day key of suite 1 with its days, counted from MIDNIGHT. */
    record TestDay(Key key, long first, long count) {
        static TestDay of(long first, long count) {
            KeyPair pair = Bytes.crypto(KeyType.P256::generate);
            byte[] scalar = ((ECPrivateKey) pair.getPrivate()).getS().toByteArray(), secret = new byte[32];
            for (int at = 1; at <= Math.min(32, scalar.length); at++) secret[32 - at] = scalar[scalar.length - at];
            return new TestDay(new Key(KeyType.P256, null, KeyType.P256.serialised(pair.getPublic()), secret, null, null, false), first, count);
        }
    }

    private static Key phone() throws Exception { return named("p256 psk"); }

    /** The record of a phone with a set of these days. */
    private static String record(long sequence, long flight, TestDay... days) throws Exception {
        List<Object> jwks = new ArrayList<>();
        Map<String, Object> times = new LinkedHashMap<>(), record = new LinkedHashMap<>(phone().record(false));
        for (TestDay day : days) {
            Instant start = Instant.ofEpochSecond(MIDNIGHT + day.first * DAY), end = start.plusSeconds(day.count * DAY);
            jwks.add(day.key.record(false));
            times.put(day.key.kid(), Json.map("activatesAt", "" + start, "retiresAt", "" + end, "expiresAt", "" + end.plusSeconds(flight + 600), "psk", true));
        }
        String set = Json.write(Json.map("keys", jwks, "pushcrypt", Json.map("seq", sequence, "registration", phone().kid(), "flight", flight, "keys", times)));
        record.put("deviceSet", Bytes.base64(DeviceSet.mac(Bytes.utf8(set), phone())) + "." + set);
        return Json.write(record);
    }

    private static SealedPush sealed(Recipient to, long at, SealOptions options) {
        return new Sealer(TOPIC, SIGNER, InstantSource.fixed(Instant.ofEpochSecond(at, 999_999_999))).seal(PLAIN, to, PLACEHOLDER, options);
    }

    private static boolean isOpened(SealedPush push, Key key) throws Exception {
        try {
            opened(push.json(), key, named("sender"));
            return true;
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    private static Object kid(SealedPush push) { return ((Obj) Json.parse(push.json()).get("pushcrypt")).get("kid"); }

    /** Whether this Java lacks suite 3, which a key of the record or of a day needs. */
    private static boolean isPlatformOld(String record) throws Exception {
        return record.contains("AKP") && (isUnsupported(() -> Recipient.fromJwk(record)) || isUnsupported(() -> Registration.fromJson(record)));
    }

    private static boolean isUnsupported(Body reader) throws Exception { return "unsupportedSuite".equals(code(reader)); }

    static void run() throws Exception {
        checkVectors(vectors("device-sets-v1.json"));
        checkLifetimes();
        checkDemand();
        checkThatKeysAreKept();
        checkThreads();
        checkRecords();
        checkRegistrations();
    }

    private static void checkVectors(Obj file) throws Exception {
        Obj mac = (Obj) file.get("mac"), keys = (Obj) file.get("keys");
        Key record = new Key(KeyType.P256, mac.string("kid"), Bytes.EMPTY, null, mac.bytes("psk", 32), null, false);
        equal("the MAC", mac.string("mac"), Bytes.base64(DeviceSet.mac(Bytes.utf8(mac.string("set")), record)));
        for (Obj one : cases(file, "vectors")) {
            String name = one.string("name"), text = one.string("text");
            if (isPlatformOld(text)) {
                skip(1);
                continue;
            }
            equal(name + ": the upload", one.get("failureOfUpload"), code(() -> Registration.fromJson(text)));
            equal(name, one.get("failure"), code(() -> Recipient.fromJwk(text)));
            if (one.get("failure") != null) continue;
            Recipient to = Recipient.fromJwk(text);
            equal(name + ": the flight", one.get("flight"), to.longestLifetime().getSeconds());
            for (Object item : one.list("at", 0, 100)) {
                long at = ((Json.Num) ((List<?>) item).get(0)).integer();
                Object kid = ((List<?>) item).get(1);
                SealedPush push = sealed(to, at, SealOptions.DEFAULT);
                equal(name + ": the key at " + at, kid == null ? to.kid() : kid, kid(push));
                check(name + ": the last-resort key at " + at, push.usesLastResortKey() == (kid == null));
                equal(name + ": exp", at + to.longestLifetime().getSeconds(), push.expiresAt().getEpochSecond());
                if (to.suite() == 3 || kid == null) continue;
                Key day = key(keys.get(kid)), opening = new Key(day.type(), null, day.publicBytes(), day.secret(), to.key.psk(), null, false, null, to.key);
                check(name + ": it opens", opened(push.json(), opening, named("sender")).contains("the-secret-text"));
                Key alone = new Key(day.type(), null, day.publicBytes(), day.secret(), to.key.psk(), null, false);
                check(name + ": its signature names the record", !isOpened(push, alone));
            }
            for (Object at : one.list("failsAt", 0, 100)) {
                equal(name + ": at " + at, one.get("failureOfUpload"), code(() -> sealed(to, ((Json.Num) at).integer(), SealOptions.DEFAULT)));
            }
        }
        for (Obj one : cases(file, "campaigns")) {
            if (isPlatformOld(one.string("text"))) continue;
            Recipient to = Recipient.fromJwk(one.string("text"));
            equal(one.string("name"), one.get("id"), to.messageId(one.string("campaign")));
            for (Object item : one.list("at", 1, 100)) {
                long at = ((Json.Num) ((List<?>) item).get(0)).integer();
                equal(one.string("name") + " at " + at, one.get("id"), sealed(to, at, SealOptions.DEFAULT.campaign(one.string("campaign"))).id());
            }
        }
        for (Obj one : cases(file, "changes")) {
            if (isPlatformOld(one.string("upload")) || isPlatformOld(one.string("stored"))) continue;
            Registration.Row stored = row(one.string("stored"), "t"), upload = row(one.string("upload"), "t");
            equal(one.string("name"), one.get("failure"), code(() -> equal(one.string("name"), one.get("isWritten"), Registration.Change.storing(upload, List.of(stored), false, false).isWritten())));
        }
    }

    private static Registration.Row row(String record, String token) { return new Registration.Row(Registration.fromJson(record), "alice", token, null); }

    private static void checkLifetimes() throws Exception {
        for (long flight : new long[] {DAY, DAY + 1, 7 * DAY}) {
            Recipient to = Recipient.fromJwk(record(1, flight, TestDay.of(0, 1)));
            for (long at : new long[] {NOON, NOON + DAY}) {
                equal("the flight is the default", at + flight, sealed(to, at, SealOptions.DEFAULT).expiresAt().getEpochSecond());
                equal("a minute", at + 60, sealed(to, at, SealOptions.DEFAULT.expiresAfter(Duration.ofMinutes(1))).expiresAt().getEpochSecond());
                SealOptions latest = SealOptions.DEFAULT.expiresAfter(Duration.ofSeconds(flight, 999_999_999));
                equal("fractions of a second are dropped", at + flight, sealed(to, at, latest).expiresAt().getEpochSecond());
                refused("a second later", "expiresTooLate", () -> sealed(to, at, SealOptions.DEFAULT.expiresAfter(Duration.ofSeconds(flight + 1))));
                refused("31 days", "invalidOption", () -> sealed(to, at, SealOptions.DEFAULT.expiresAfter(Duration.ofDays(31))));
            }
        }
        equal("a record without a set", Duration.ofDays(30), recipient("p256 psk").longestLifetime());
        equal("its default", NOON + 30 * DAY, sealed(recipient("p256 psk"), NOON, SealOptions.DEFAULT).expiresAt().getEpochSecond());
    }

    private static void checkDemand() throws Exception {
        TestDay today = TestDay.of(0, 1);
        Recipient to = Recipient.fromJwk(record(1, DAY, today));
        equal("a day with a key", today.key.kid(), kid(sealed(to, NOON, SealOptions.DEFAULT.requiringDayKey())));
        refused("a day without one", "noDayKey", () -> sealed(to, NOON + DAY, SealOptions.DEFAULT.requiringDayKey()));
        SealedPush push = sealed(recipient("p256 psk"), NOON, SealOptions.DEFAULT.requiringDayKey());
        check("a record without a set has no last-resort key", !push.usesLastResortKey() && phone().kid().equals(kid(push)));
        check("a push to a large payload has the key of the day", sealed(to, NOON, SealOptions.DEFAULT.oversize(OversizePlan.shortenBody(1)).limit(600)).json().contains(today.key.kid()));
    }

    private static void checkThatKeysAreKept() throws Exception {
        DeviceSet set = Recipient.fromJwk(record(1, DAY, TestDay.of(0, 1), TestDay.of(1, 2))).key.days();
        Key first = set.at(NOON);
        check("a key is read once for its day", first == set.at(NOON + 1) && set.at(NOON + DAY) == set.at(NOON + 2 * DAY) && set.at(NOON + DAY) != first);
        check("another day", set.at(MIDNIGHT - 1) == null && set.at(MIDNIGHT + 3 * DAY) == null && set.at(MIDNIGHT).kid().equals(first.kid()));
    }

    private static void checkThreads() throws Exception {
        TestDay[] days = {TestDay.of(0, 1), TestDay.of(1, 1)};
        Recipient to = Recipient.fromJwk(record(1, DAY, days));
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Callable<Boolean>> work = new ArrayList<>();
        for (int number = 0; number < 400; number++) {
            int day = number % 2;
            work.add(() -> days[day].key.kid().equals(kid(sealed(to, NOON + day * DAY, SealOptions.DEFAULT))));
        }
        boolean isRight = true;
        for (Future<Boolean> one : threads.invokeAll(work)) isRight &= one.get();
        threads.shutdown();
        check("threads on both sides of midnight get the key of their own day", isRight);
    }

    private static void checkRecords() throws Exception {
        TestDay today = TestDay.of(0, 1);
        String record = record(1, DAY, today), times = ",\"pushcrypt\":{\"seq\":1,\"keys\":{\"" + phone().kid() + "\":{\"activatesAt\":\"2026-01-01T00:00:00Z\",\"psk\":true}}}";
        for (String text : List.of("{\"keys\":[" + record + "]}", "{\"keys\":[" + record + "]" + times + "}")) {
            Recipient to = Keyset.fromJson(text).recipientAt(Instant.ofEpochSecond(NOON), false);
            equal("a record in a set has its day keys", today.key.kid(), kid(sealed(to, NOON, SealOptions.DEFAULT)));
            refused("another flight", "notAuthentic", () -> Keyset.fromJson(text.replace("86400", "86401")));
            refused("a damaged set", "malformed", () -> Keyset.fromJson(text.replace("\"deviceSet\":\"", "\"deviceSet\":\"A")));
        }
        equal("the record of a recipient has its set", Json.parse(record), Json.parse(Recipient.fromJwk(Recipient.fromJwk(record).toJwk()).toJwk()));
        String whole = record.replaceFirst("\\{", "{\"d\":\"" + Bytes.base64(phone().secret()) + "\",");
        refused("a private record", "wrongKind", () -> Recipient.fromJwk(whole));
        check("a private record is read without its set", key(Json.parse(whole)).days() == null);
    }

    private static void checkRegistrations() throws Exception {
        TestDay today = TestDay.of(0, 1);
        String record = record(5, DAY, today);
        int room = 4_096 - Bytes.utf8(record).length + Bytes.utf8(Json.parse(record).raw("deviceSet")).length;
        refused("4,096 bytes beside the set", null, () -> Registration.fromJson(record + " ".repeat(room)));
        refused("4,097 bytes beside the set", "tooLarge", () -> Registration.fromJson(record + " ".repeat(room + 1)));
        refused("a text that isn't parsed", "tooLarge", () -> Registration.fromJson("{" + " ".repeat(4_096 + 6 * 32_768)));
        for (boolean isProven : new boolean[] {false, true}) {
            List<Registration.Row> stored = List.of(row(record, "t"));
            refused("a lower seq with another token", "rolledBack", () -> Registration.Change.storing(row(record(4, DAY, today), "other"), stored, isProven, true));
            check("a higher seq with another token", Registration.Change.storing(row(record(6, DAY, today), "other"), stored, isProven, true).isWritten());
        }
        Registration upload = Registration.fromJson(record);
        Challenge challenge = new Sealer(TOPIC, null, InstantSource.fixed(Instant.ofEpochSecond(NOON))).challenge(upload, "push.example.com");
        Obj json = Json.parse(challenge.json());
        equal("a challenge is sealed to the key of the record", phone().kid(), json.get("kid"));
        byte[] nonce = TestOpener.open(phone(), null, TOPIC, json.bytes("sealed", 0), true);
        String answer = Json.write(Map.of("registration", json.string("registration"), "answer", Bytes.base64(Challenge.code(nonce, "push.example.com", json.string("registration"), record))));
        Recipient confirmed = Challenge.Pending.fromJson(challenge.pending().toJson()).confirm(answer, Instant.ofEpochSecond(NOON)).recipient();
        equal("the confirmed record has its day keys", today.key.kid(), kid(sealed(confirmed, NOON, SealOptions.DEFAULT)));
    }
}
