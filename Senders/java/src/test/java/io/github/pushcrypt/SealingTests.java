package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;

import io.github.pushcrypt.Json.Obj;
import java.time.*;
import java.util.*;

/** sender-refusals-v1.json, alerts-v1.json, envelopes-v1.json, and what a program sees of a sealed push. */
final class SealingTests {
    static final InstantSource CLOCK = InstantSource.fixed(Instant.ofEpochSecond(AT, 900_000_000));
    static final Placeholder PLACEHOLDER = Placeholder.of("New message", "Open the app to read it");
    static final String PLAIN = "{\"aps\":{\"alert\":\"the-secret-text\"}}";

    private SealingTests() {}

    static Key named(String name) throws Exception { return key(((Obj) vectors("pushcrypt-v1.json").get("keys")).get(name)); }

    static Recipient recipient(String name) throws Exception { return new Recipient(publicHalf(named(name))); }

    static Sealer sealer(boolean isSigned) throws Exception { return new Sealer(TOPIC, isSigned ? new SenderKey(named("sender")) : null, CLOCK); }

    /** The message in a push of the carrier APNs, without padding. */
    static String opened(String json, Key key, Key sender) throws Exception {
        Obj envelope = (Obj) Json.parse(json.getBytes("UTF-8")).get("pushcrypt");
        return new String(TestOpener.open(key, sender, TOPIC, envelope.bytes("sealed", 0), false), "UTF-8").stripTrailing();
    }

    private static List<String> strings(Obj owner, String name) {
        return owner.has(name) ? owner.list(name, 0, 100).stream().map(String.class::cast).toList() : List.of();
    }

    static SealedBlob.Attachment attachment(Obj members) {
        return new SealedBlob.Attachment(new SealedBlob.Reference(members.string("url"), members.string("key"), members.integer("size", 0, Json.MAX_INTEGER), members.string("sha256")), members.string("type"),
                members.has("id") ? members.string("id") : null, "avatar".equals(members.get("use")));
    }

    private static SealOptions options(Obj given) {
        SealOptions options = SealOptions.DEFAULT;
        if (given.has("expiresAfter")) options = options.expiresAfter(Duration.ofSeconds(given.integer("expiresAfter", 0, Integer.MAX_VALUE)));
        if (given.has("limit")) options = options.limit((int) given.integer("limit", 0, 10_000));
        if (given.has("campaign")) options = options.campaign(given.string("campaign"));
        if (given.has("badgeAdd")) options = options.badgeAdd((int) given.integer("badgeAdd", -10_000, 10_000));
        if (given.has("minimumSuite")) options = options.minimumSuite((int) given.integer("minimumSuite", 0, 9));
        if (Boolean.TRUE.equals(given.get("quiet"))) options = options.quiet();
        if (!Boolean.TRUE.equals(given.get("requiresDevice"))) options = options.bare();
        if (given.has("attachments")) options = options.attaching(cases(given, "attachments").stream().map(SealingTests::attachment).toArray(SealedBlob.Attachment[]::new));
        return options.exposing(strings(given, "exposed").toArray(String[]::new)).retracting(strings(given, "retract"));
    }

    static void run() throws Exception {
        Obj file = vectors("sender-refusals-v1.json"), records = (Obj) file.get("records");
        for (Obj one : cases(file, "seal")) {
            Sealer sealer = new Sealer(TOPIC, Boolean.TRUE.equals(one.get("isSigned")) ? SenderKey.fromJwk(records.string("sender")) : null, CLOCK);
            Recipient to = Recipient.fromJwk(records.string(one.string("to")));
            equal(one.string("name"), one.get("failure"), code(() -> {
                Placeholder placeholder = Placeholder.of("");
                for (var member : ((Obj) one.get("placeholder")).entrySet()) placeholder = placeholder.with(member.getKey(), (String) member.getValue());
                SealedPush push = sealer.seal(one.string("payload"), to, placeholder, options((Obj) one.get("options")));
                check(one.string("name") + ": its length", push.json().length() <= 4_096 && Json.parse(push.json().getBytes("UTF-8")).size() == 2);
            }));
        }
        checkAlerts();
        checkEnvelopes();
        checkPush();
        checkExposure();
        checkOptions();
    }

    private static void checkAlerts() throws Exception {
        Obj file = vectors("alerts-v1.json");
        BitSet invisible = new BitSet();
        for (Object range : file.list("invisible", 1, 100)) {
            String[] ends = ((String) range).split("-");
            invisible.set(Integer.parseInt(ends[0], 16), Integer.parseInt(ends[ends.length - 1], 16) + 1);
        }
        for (int plane = 0; plane < 17; plane++) invisible.set(plane << 16 | 0xFFFE, (plane << 16 | 0xFFFF) + 1);
        int wrong = 0;
        for (int point = 0; point <= 0x10FFFF; point++) {
            if (Payload.isVisible(Character.toString(point)) == invisible.get(point)) wrong++;
        }
        equal("code points of the wrong visibility", 0, wrong);
        Sealer sealer = sealer(false);
        Recipient device = recipient("device");
        for (Obj one : cases(file, "vectors")) {
            boolean isVisible = Boolean.TRUE.equals(one.get("isVisible"));
            String alert = one.string("alert"), payload = "{\"aps\":{\"alert\":" + alert + "}}";
            refused("payload " + one.string("name"), isVisible ? null : "invalidPayload", () -> sealer.seal(payload, device, PLACEHOLDER));
            refused("offload " + one.string("name"), isVisible ? null : "invalidPayload", () -> SealedBlob.ofPayload(payload));
            Object value = Json.parse(("{\"a\":" + alert + "}").getBytes("UTF-8")).get("a");
            refused("placeholder " + one.string("name"), isVisible ? null : "invalidPlaceholder", () -> sealer.seal(PLAIN, device, placeholder(value)));
        }
    }

    private static Placeholder placeholder(Object alert) {
        if (alert instanceof String text) return Placeholder.of(text);
        Placeholder placeholder = Placeholder.of("");
        for (var member : ((Obj) alert).entrySet()) {
            placeholder = member.getValue() instanceof List<?> items ? placeholder.with(member.getKey(), items.stream().map(String.class::cast).toList())
                    : placeholder.with(member.getKey(), (String) member.getValue());
        }
        return placeholder;
    }

    /** The envelopes that open: what they sign and bind is what this package signs and binds. */
    private static void checkEnvelopes() throws Exception {
        Obj file = vectors("envelopes-v1.json");
        List<?> sets = file.list("sets", 1, 1_000);
        int count = 0;
        for (Obj one : cases(file, "vectors")) {
            if (one.get("failure") != null) continue;
            Obj envelope = (Obj) Json.parse(one.string("payload").getBytes("UTF-8")).get("pushcrypt");
            Obj set = Json.parse(((String) sets.get((int) one.integer("keyset", 0, 1_000))).getBytes("UTF-8"));
            List<?> jwks = set.has("keys") ? set.list("keys", 1, 100) : List.of(set);
            Key key = jwks.stream().map(jwk -> Key.read(jwk, !"AKP".equals(((Obj) jwk).get("kty")))).filter(k -> k.kid().equals(envelope.get("kid"))).findFirst().orElseThrow();
            if (key.type() == KeyType.XWING) continue;
            Key sender = null;
            if (envelope.has("skid")) {
                Keyset senders = Keyset.fromJson((String) sets.get((int) one.integer("senders", 0, 1_000)));
                sender = senders.entries.stream().map(Keyset.Entry::key).filter(k -> k.kid().equals(envelope.get("skid"))).findFirst().orElseThrow();
            }
            byte[] message = TestOpener.open(key, sender, one.string("topic"), envelope.bytes("sealed", 0), false);
            check(one.string("name"), new String(message, "UTF-8").contains("\"pushcrypt\""));
            count++;
        }
        check("envelopes of all profiles: " + count, count >= 30);
    }

    private static void checkPush() throws Exception {
        Key sender = named("sender");
        String inner = "{ \"aps\" : {\"alert\":{\"title\":\"Zoë \\u00e9 😀\"},\"sound\":\"chime.caf\", \"badge\": 1.50e0 } , \"x\" : [ 1.10 ] }  ";
        for (String name : List.of("p256", "p256 psk", "x25519", "x25519 psk", "shared", "device")) {
            for (boolean isSigned : new boolean[] {false, true}) {
                SealedPush push = sealer(isSigned).seal(inner, recipient(name), PLACEHOLDER, SealOptions.DEFAULT.bare());
                String message = opened(push.json(), named(name), isSigned ? sender : null);
                String header = ",\"pushcrypt\":{\"id\":\"" + push.id() + "\",\"iat\":1800000000,\"exp\":1802592000}";
                equal(name + ": the message", inner.stripTrailing().replace("[ 1.10 ] }", "[ 1.10 ]" + header + " }"), message);
                Obj root = Json.parse(push.json().getBytes("UTF-8")), aps = (Obj) root.get("aps"), envelope = (Obj) root.get("pushcrypt");
                equal("the members of aps", List.of("alert", "mutable-content", "sound"), List.copyOf(aps.keySet()));
                equal("sound", "default", aps.get("sound"));
                equal("mutable-content", "1", aps.raw("mutable-content"));
                equal("v", "1", envelope.raw("v"));
                equal("kid", named(name).kid(), envelope.get("kid"));
                equal("skid", isSigned ? sender.kid() : null, envelope.get("skid"));
                check("nothing of the content is outside", !push.json().contains("Zoë") && !push.json().contains("chime.caf") && !push.json().contains(push.id()));
                String again = sealer(isSigned).seal(inner, recipient(name), PLACEHOLDER, SealOptions.DEFAULT.bare()).json();
                check("each seal is another one", !again.equals(push.json()));
            }
        }
        SealedPush push = sealer(true).seal(PLAIN, recipient("p256 psk"), PLACEHOLDER, SealOptions.DEFAULT.expiresAfter(Duration.ofHours(1)).collapseId("c"));
        Map<String, String> expected = Map.of("apns-push-type", "alert", "apns-topic", TOPIC, "apns-expiration", "1800003600", "apns-priority", "10", "apns-collapse-id", "c");
        check("headers " + push.headers(), expected.equals(push.headers()));
        equal("quiet", "5", sealer(true).seal(PLAIN, recipient("p256"), PLACEHOLDER, SealOptions.DEFAULT.quiet()).headers().get("apns-priority"));
        check("a quiet push has no sound", !sealer(true).seal("{\"aps\":{\"alert\":\"x\",\"sound\":\"s\"}}", recipient("p256"), PLACEHOLDER, SealOptions.DEFAULT.quiet()).json().contains("sound"));
        refused("another topic doesn't open", "x", () -> {
            try {
                opened(new Sealer("com.example.other", null, CLOCK).seal(PLAIN, recipient("p256"), PLACEHOLDER).json(), named("p256"), null);
            } catch (java.security.GeneralSecurityException e) {
                throw new PushCryptException("x", "");
            }
        });
        for (String topic : List.of("", "a b", "a".repeat(156), "ä", "a\n")) refused("topic " + topic, "invalidTopic", () -> new Sealer(topic, null, CLOCK));
        for (byte[] payload : new byte[][] {{(byte) 0xFF}, "{\"aps\":{\"alert\":\"\u00e9\"}}".getBytes("ISO-8859-1")}) {
            refused("bytes that aren't UTF-8", "invalidPayload", () -> sealer(false).seal(payload, recipient("p256"), PLACEHOLDER, SealOptions.DEFAULT));
        }
        refused("a lone surrogate in a string", "invalidPayload", () -> sealer(false).seal("{\"aps\":{\"alert\":\"x\ud800\"}}", recipient("p256"), PLACEHOLDER));
        refused("a lone surrogate in a placeholder", "invalidPlaceholder", () -> sealer(false).seal(PLAIN, recipient("p256"), Placeholder.of("x\ud800")));
        for (String activity : List.of("\"event\":\"update\"", "\"event\":\"start\"", "\"event\":\"end\"", "\"content-state\":{}", "\"attributes\":{\"a\":1}", "\"attributes-type\":\"T\"")) {
            String payload = "{\"aps\":{\"alert\":\"x\"," + activity + "}}";
            refused(activity, "invalidPayload", () -> sealer(false).seal(payload, recipient("p256"), PLACEHOLDER));
            refused(activity, "invalidPayload", () -> SealedBlob.ofPayload(payload));
        }
        for (String other : List.of("\"event\":\"shipped\"", "\"event\":null,\"content-state\":null,\"attributes\":null")) {
            refused(other, null, () -> sealer(false).seal("{\"aps\":{\"alert\":\"x\"," + other + "}}", recipient("p256"), PLACEHOLDER));
        }
    }

    private static void checkExposure() throws Exception {
        Recipient to = recipient("p256");
        String payload = "{\"aps\":{\"alert\":\"x\",\"sound\":{\"name\":\"s\"},\"badge\":3,\"content-available\":1,\"relevance-score\":5e-1,\"x\":true}}";
        SealedPush push = sealer(false).seal(payload, to, PLACEHOLDER, SealOptions.DEFAULT.exposing("badge", "sound", "relevance-score", "badge", "content-available"));
        Obj aps = (Obj) Json.parse(push.json().getBytes("UTF-8")).get("aps");
        equal("exposed", Set.of("alert", "mutable-content", "badge", "sound", "relevance-score", "content-available").size(), aps.size());
        equal("a copy", "5e-1{\"name\":\"s\"}3", aps.raw("relevance-score") + aps.raw("sound") + aps.raw("badge"));
        for (String silent : List.of("null", "\"\"", "{}")) {
            check("sound " + silent, !sealer(false).seal("{\"aps\":{\"alert\":\"x\",\"sound\":" + silent + "}}", to, PLACEHOLDER).json().contains("sound"));
        }
        for (String loud : List.of("1", "[]", "false", "\"x\"", "{\"critical\":1}")) {
            check("sound " + loud, sealer(false).seal("{\"aps\":{\"alert\":\"x\",\"sound\":" + loud + "}}", to, PLACEHOLDER).json().contains("\"sound\":\"default\""));
        }
        for (String hidden : List.of("true", "1.0", "\"1\"", "0", "2")) {
            check("content-available " + hidden, !sealer(false).seal("{\"aps\":{\"alert\":\"x\",\"content-available\":" + hidden + "}}", to, PLACEHOLDER).json().contains("content-available"));
        }
        String[][] rows = {{"badge", "1.0"}, {"badge", "9007199254740992"}, {"badge", "-0"}, {"sound", "{\"critical\":2}"}, {"sound", "{\"volume\":-0.1}"}, {"sound", "{\"other\":1}"},
            {"sound", "{\"name\":1}"}, {"sound", "null"}, {"thread-id", "1"}, {"filter-criteria", "null"}, {"target-content-id", "true"}, {"content-available", "0"},
            {"interruption-level", "1"}, {"relevance-score", "\"1\""}, {"relevance-score", "-1e999"}, {"y", "[1]"}, {"y", "1e999"}};
        for (String[] row : rows) {
            refused(row[0] + " " + row[1], "notExposable", () -> sealer(false).seal("{\"aps\":{\"alert\":\"x\",\"" + row[0] + "\":" + row[1] + "}}", to, PLACEHOLDER, SealOptions.DEFAULT.exposing(row[0])));
        }
        for (String[] row : new String[][] {{"badge", "0"}, {"badge", "9007199254740991"}, {"sound", "{\"critical\":0,\"volume\":1}"}, {"sound", "\"\""}, {"relevance-score", "-1"}, {"y", "\"\""}, {"y", "1e300"}}) {
            refused(row[0] + " " + row[1], null, () -> sealer(false).seal("{\"aps\":{\"alert\":\"x\",\"" + row[0] + "\":" + row[1] + "}}", to, PLACEHOLDER, SealOptions.DEFAULT.exposing(row[0])));
        }
        Placeholder placeholder = Placeholder.of("t", "b").with("subtitle", "s").with("loc-key", "K").with("loc-args", List.of("1", "2")).with("launch-image", "i").with("title", "");
        equal("alert", "{body=b, subtitle=s, loc-key=K, loc-args=[1, 2], launch-image=i}", placeholder.alert());
        refused("another member of an alert", "invalidPlaceholder", () -> placeholder.with("badge", "1"));
        refused("arguments of a title", "invalidPlaceholder", () -> placeholder.with("title", List.of("1")));
    }

    private static void checkOptions() throws Exception {
        Recipient to = recipient("p256 psk");
        Set<Integer> lengths = new HashSet<>();
        for (int padding : new int[] {512, SealOptions.TO_LIMIT}) {
            lengths.clear();
            for (int count : new int[] {1, 50, 200}) lengths.add(sealer(false).seal(body(count), to, PLACEHOLDER, SealOptions.DEFAULT.padding(padding)).json().length());
            equal("lengths with padding " + padding, 1, lengths.size());
        }
        equal("no padding", 40, sealer(false).seal(body(60), to, PLACEHOLDER, SealOptions.DEFAULT.padding(1)).json().length()
                - sealer(false).seal(body(30), to, PLACEHOLDER, SealOptions.DEFAULT.padding(1)).json().length());
        check("padding to the limit", sealer(false).seal(body(1), to, PLACEHOLDER, SealOptions.DEFAULT.padding(SealOptions.TO_LIMIT)).json().length() > 4_092);
        for (String name : List.of("p256", "p256 psk", "x25519", "shared", "device")) {
            for (boolean isSigned : new boolean[] {false, true}) {
                SealOptions options = SealOptions.DEFAULT.bare().padding(1);
                int exact = sealer(isSigned).seal(PLAIN, recipient(name), PLACEHOLDER, options).json().length();
                refused("the exact limit", null, () -> sealer(isSigned).seal(PLAIN, recipient(name), PLACEHOLDER, options.limit(exact)));
                try {
                    sealer(isSigned).seal(PLAIN, recipient(name), PLACEHOLDER, options.limit(exact - 1));
                    check("a byte too many", false);
                } catch (PushCryptException e) {
                    equal("tooLarge", "tooLarge", e.code());
                    check("its size", e.facts().equals(Map.of("bytesNeeded", exact, "bytesAvailable", exact - 1)));
                }
            }
        }
        for (SealOptions wrong : List.of(SealOptions.DEFAULT.padding(0), SealOptions.DEFAULT.padding(-1), SealOptions.DEFAULT.limit(-1), SealOptions.DEFAULT.expiresAfter(Duration.ofSeconds(-1)),
                SealOptions.DEFAULT.expiresAfter(Duration.ofDays(30).plusNanos(1)), SealOptions.DEFAULT.expiresAfter(Duration.ofMillis(999)), SealOptions.DEFAULT.minimumSuite(0),
                SealOptions.DEFAULT.minimumSuite(5), SealOptions.DEFAULT.collapseId(""), SealOptions.DEFAULT.collapseId("x".repeat(65)), SealOptions.DEFAULT.collapseId("ä"),
                SealOptions.DEFAULT.collapseId("a\n"), SealOptions.DEFAULT.campaign("x\ud800"), SealOptions.DEFAULT.badgeAdd(Integer.MIN_VALUE),
                SealOptions.DEFAULT.quiet().offloading(SealedBlob.ofPayload(PLAIN).offload("https://a.b/c")), SealOptions.DEFAULT.offloading(new SealedBlob.Reference("http://a", "", 1, "")))) {
            refused("a wrong option", "invalidOption", () -> sealer(true).seal(PLAIN, to, PLACEHOLDER, wrong));
        }
        refused("a clock before 1970", "invalidOption", () -> new Sealer(TOPIC, null, InstantSource.fixed(Instant.ofEpochSecond(-1))).seal(PLAIN, to, PLACEHOLDER));
        SealOptions campaign = SealOptions.DEFAULT.campaign("spring");
        equal("a campaign's id", sealer(false).seal(PLAIN, to, PLACEHOLDER, campaign).id(), sealer(false).seal(PLAIN, to, PLACEHOLDER, campaign).id());
        check("options don't change", SealOptions.DEFAULT.campaign == null && campaign.quiet() != campaign && !campaign.isQuiet);
        refused("a signer without a key", "noKeySeals", () -> new Sealer(TOPIC, time -> {
            throw new PushCryptException("noKeySeals", "");
        }, CLOCK).seal(PLAIN, to, PLACEHOLDER));
    }

    static String body(int count) { return "{\"aps\":{\"alert\":{\"title\":\"t\",\"body\":\"" + "x".repeat(count) + "\"}},\"custom\":1}"; }
}
