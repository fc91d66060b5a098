package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;
import static io.github.pushcrypt.SealingTests.*;

import io.github.pushcrypt.Json.Obj;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.*;
import java.util.*;
import java.util.function.Consumer;

/** What this package seals opens with the Python package, which the variable PUSHCRYPT_PYTHON names an interpreter of. */
final class InteropTests {
    private static final List<Map<String, Object>> REQUESTS = new ArrayList<>();
    private static final List<Consumer<Obj>> CHECKS = new ArrayList<>();

    private InteropTests() {}

    static void run() throws Exception {
        String python = System.getenv("PUSHCRYPT_PYTHON");
        if (python == null) {
            System.out.println("  skipped: PUSHCRYPT_PYTHON isn't set");
            skip(1);
            return;
        }
        List<Obj> made = new ArrayList<>();
        if (KeyTests.HAS_MLKEM) {
            for (boolean hasPsk : new boolean[] {false, true}) ask(Json.map("op", "generate", "suite", 3, "psk", hasPsk), made::add);
            answer(python);
        }
        addPushes(made);
        addVectors();
        addChallenges();
        addBlobs();
        for (List<String> bodies : List.of(ReceiptTests.RIGHT, ReceiptTests.WRONG)) {
            for (String body : bodies) ask(Json.map("op", "receipt", "body", body), found -> {
                if (bodies == ReceiptTests.WRONG) equal("receipt " + body, "malformed", found.get("failure"));
                else equal("receipt " + body, Json.write(ReceiptTests.values(Receipt.fromBody(body))), Json.write(found.get("receipt")));
            });
        }
        answer(python);
    }

    private static void ask(Map<String, Object> request, Consumer<Obj> check) {
        REQUESTS.add(request);
        CHECKS.add(check);
    }

    /** One process answers all requests. */
    private static void answer(String python) throws Exception {
        Path script = above("src/test/python/peer.py", "Senders/java/src/test/python/peer.py");
        Path requests = Files.createTempFile("pushcrypt", ".jsonl"), answers = Files.createTempFile("pushcrypt", ".jsonl");
        Files.write(requests, REQUESTS.stream().map(Json::write).toList(), StandardCharsets.UTF_8);
        Process process = new ProcessBuilder(python, script.toString()).redirectInput(requests.toFile()).redirectOutput(answers.toFile()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        equal("the status of the other implementation", 0, process.waitFor());
        List<String> lines = Files.readAllLines(answers, StandardCharsets.UTF_8);
        equal("its answers", REQUESTS.size(), lines.size());
        for (int at = 0; at < lines.size(); at++) CHECKS.get(at).accept(Json.parse(lines.get(at).getBytes(StandardCharsets.UTF_8)));
        REQUESTS.clear();
        CHECKS.clear();
    }

    private static Map<String, Object> open(String payload, String keyset, boolean isSigned, String carrier) throws Exception {
        return Json.map("op", "open", "payload", payload, "keyset", keyset, "senders", isSigned ? new SenderKey(named("sender")).publicJwk() : null,
                "topic", TOPIC, "at", AT, "carriers", List.of(carrier));
    }

    /** Random payloads of all suites, profiles and carriers. */
    private static void addPushes(List<Obj> made) throws Exception {
        Random random = new Random(7);
        Map<String, Carrier> carriers = Map.of("apns", Carrier.APNS, "rebuilt", Carrier.REBUILT, "fcm", Carrier.FCM, "text", Carrier.TEXT, "expo", Carrier.EXPO, "oneSignal", Carrier.ONE_SIGNAL);
        List<String> keysets = new ArrayList<>();
        List<Recipient> recipients = new ArrayList<>();
        for (String name : List.of("p256", "p256 psk", "x25519", "x25519 psk", "shared", "device")) {
            keysets.add(Json.write(named(name).record(true)));
            recipients.add(recipient(name));
        }
        for (Obj one : made) {
            keysets.add(one.string("private"));
            recipients.add(Recipient.fromJwk(one.string("record")));
        }
        for (int at = 0; at < keysets.size(); at++) {
            for (boolean isSigned : new boolean[] {false, true}) {
                for (int round = 0; round < 30; round++) {
                    String carrier = List.of("apns", "rebuilt", "fcm", "text", "expo", "oneSignal").get(round % 6);
                    String body = text(random, 1 + random.nextInt(recipients.get(at).suite() == 3 ? 150 : 400));
                    String inner = Json.write(Json.map("x", Arrays.asList(random.nextInt(), null, text(random, 5)), "aps", Json.map("alert", Json.map("title", "t", "body", body), "sound", "s")));
                    SealOptions options = SealOptions.DEFAULT.bare().carrier(carriers.get(carrier)).padding(1 + random.nextInt(300));
                    SealedPush push = sealer(isSigned).seal(inner, recipients.get(at), PLACEHOLDER, round % 7 == 3 ? options.selfTest() : options);
                    boolean isTest = round % 7 == 3;
                    ask(open(push.json(), keysets.get(at), isSigned, carrier), found -> {
                        equal("the payload", inner, found.get("json"));
                        equal("id, times and test", push.id() + " " + AT + " " + (AT + 2_592_000) + " " + isTest, found.get("id") + " " + found.get("iat") + " " + found.get("exp") + " " + found.get("test"));
                        equal("its name in receipts", Receipt.nameOf(push.id()), found.get("receipt"));
                    });
                }
            }
        }
        SealedPush push = sealer(true).seal(PLAIN, recipient("p256 psk"), PLACEHOLDER);
        ask(open(push.json().replace("\"skid\":\"", "\"skid\":\"x"), keysets.get(1), true, "apns"), found -> check("a push that was changed", found.has("failure")));
        ask(open(push.json(), keysets.get(1), false, "apns"), found -> equal("an app that pins no sender", "unknownKey", found.get("failure")));
        for (String body : List.of("👩‍👩‍👧‍👦".repeat(300), "é".repeat(4_000), "\"".repeat(4_000))) {
            String inner = Json.write(Map.of("aps", Map.of("alert", Map.of("body", body))));
            SealedPush shorter = sealer(true).seal(inner, recipient("p256 psk"), PLACEHOLDER, SealOptions.DEFAULT.oversize(OversizePlan.shortenBody(1)));
            ask(open(shorter.json(), keysets.get(1), true, "apns"), found -> check("a shortened body", found.has("json") && found.string("json").contains("…")));
        }
    }

    private static String text(Random random, int length) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < length; at++) {
            int kind = random.nextInt(10), point = kind < 6 ? 0x20 + random.nextInt(0x5F) : kind < 8 ? 0xA1 + random.nextInt(0xD000) : kind == 8 ? 0x1F300 + random.nextInt(0x300) : random.nextInt(0x20);
            text.appendCodePoint(point);
        }
        return text.append('x').toString();
    }

    /** Pushes with the instructions of instructions-v1.json. */
    private static void addVectors() throws Exception {
        for (Obj vector : cases(vectors("instructions-v1.json"), "vectors")) {
            if (vector.get("failure") != null) continue;
            Obj opened = (Obj) vector.get("opened");
            List<String> retract = opened.list("retract", 0, 16).stream().map(String::valueOf).toList();
            long proof = opened.integer("proof", 0, 3);
            Obj jwk = Json.parse(vector.string("keyset").getBytes());
            if (jwk.has("keys") || "AKP".equals(jwk.get("kty")) || proof == 0) continue;
            boolean isQuiet = Boolean.TRUE.equals(opened.get("quiet")), isSigned = proof >= 2;
            SealOptions options = SealOptions.DEFAULT.bare().retracting(retract);
            if (isQuiet) options = options.quiet();
            if (opened.get("badgeAdd") != null) options = options.badgeAdd((int) opened.integer("badgeAdd", -999, 999));
            List<SealedBlob.Attachment> files = new ArrayList<>();
            for (Object url : opened.list("attachments", 0, 8)) files.add(SealedBlob.ofFile(new byte[1]).attachment((String) url, "image/png"));
            if (opened.get("avatar") != null) files.add(SealedBlob.ofFile(new byte[1]).avatar(opened.string("avatar"), "image/png"));
            Recipient to = new Recipient(publicHalf(key(jwk)));
            SealedPush push = sealer(isSigned).seal(PLAIN, to, PLACEHOLDER, options.attaching(files.toArray(SealedBlob.Attachment[]::new)).padding(1));
            ask(open(push.json(), vector.string("keyset"), isSigned, "apns"), found -> {
                equal(vector.string("name"), Json.write(Arrays.asList(opened.get("retract"), opened.get("quiet"), opened.get("badgeAdd"), proof)),
                        Json.write(Arrays.asList(found.get("retract"), found.get("quiet"), found.get("badgeAdd"), found.get("proof"))));
                equal(vector.string("name"), files.size(), found.list("attachments", 0, 8).size());
            });
        }
    }

    private static void addChallenges() throws Exception {
        for (String name : List.of("p256", "p256 psk", "x25519", "x25519 psk", "shared", "device")) {
            for (boolean isSigned : new boolean[] {false, true}) {
                Registration registration = Registration.fromJson(" " + recipient(name).toJwk() + "\n");
                Challenge challenge = sealer(isSigned).challenge(registration, "push.example.com");
                Map<String, Object> request = open("", Json.write(named(name).record(true)), isSigned, "apns");
                request.putAll(Json.map("op", "answer", "challenge", challenge.json(), "record", registration.record(), "host", "push.example.com"));
                ask(request, found -> {
                    try {
                        refused("an answer of a device with " + name, null, () -> challenge.pending().confirm(found.string("answer"), Instant.ofEpochSecond(AT)));
                    } catch (Exception e) {
                        check("an answer: " + e, false);
                    }
                });
            }
        }
    }

    private static void addBlobs() throws Exception {
        byte[] picture = new byte[200_000];
        new Random(3).nextBytes(picture);
        SealedBlob file = SealedBlob.ofFile(picture);
        SealedPush push = sealer(true).seal(PLAIN, recipient("p256"), PLACEHOLDER, SealOptions.DEFAULT.attaching(file.attachment("https://a.b/c", "image/png")));
        Map<String, Object> request = open(push.json(), Json.write(named("p256").record(true)), true, "apns");
        request.put("blob", Bytes.base64(file.bytes()));
        ask(request, found -> check("a file", Bytes.base64(picture).equals(found.get("blob"))));
        List<SealedBlob> stored = new ArrayList<>();
        String body = body(9_000);
        SealedPush offloaded = sealer(true).seal(body, recipient("p256"), PLACEHOLDER, SealOptions.DEFAULT.oversize(OversizePlan.shortenBodyOrOffload(5_000, blob -> {
            stored.add(blob);
            return "https://a.b/c";
        })));
        Map<String, Object> other = open(offloaded.json(), Json.write(named("p256").record(true)), true, "apns");
        other.put("blob", Bytes.base64(stored.get(0).bytes()));
        ask(other, found -> equal("an offloaded payload", body, found.get("blob")));
    }
}
