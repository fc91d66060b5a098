package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;

import io.github.pushcrypt.Json.Obj;
import java.time.Instant;
import java.util.*;

/** keysets-v1.json: records, sets, the choice of a key, ids of campaigns. */
final class KeyTests {
    private KeyTests() {}

    static final boolean HAS_MLKEM = hasMlkem();

    private static boolean hasMlkem() {
        try {
            Obj jwk = (Obj) ((Obj) vectors("xwing-keys.json").get("keys")).get("xwing");
            Key key = publicHalf(Key.read(jwk, false));
            return KeyType.XWING.isValid(key.publicBytes(), null);
        } catch (PushCryptException e) {
            return false;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<String> kids(Obj vector) {
        String text = vector.string("text");
        return switch (vector.string("as")) {
            case "recipient" -> List.of(Recipient.fromJwk(text).kid());
            case "signer" -> List.of(SenderKey.fromJwk(text).kid());
            case "senders" -> {
                Keyset keyset = Keyset.fromJson(text);
                if (!keyset.kind().equals("sender")) throw new PushCryptException("wrongKind", "no senders");
                yield keyset.entries.stream().map(entry -> entry.key().kid()).toList();
            }
            default -> Keyset.fromJson(text).entries.stream().map(entry -> entry.key().kid()).toList();
        };
    }

    static void run() throws Exception {
        int unavailable = 0;
        for (Obj vector : cases(vectors("keysets-v1.json"), "vectors")) {
            List<String> found = new ArrayList<>();
            String code = code(() -> found.addAll(kids(vector)));
            boolean isPrivate = vector.string("text").contains("\"priv\"");
            if ("unsupportedSuite".equals(code) && vector.string("text").contains("AKP") && (isPrivate || !HAS_MLKEM)) {
                unavailable++;
                check(vector.string("name"), true);
                continue;
            }
            equal(vector.string("name"), vector.get("failure"), code);
            if (code == null && vector.get("failure") == null) equal(vector.string("name"), vector.list("kids", 1, 100), found);
        }
        for (String times : List.of("{}", "{\"activatesAt\":\"9000-01-01T00:00:00Z\"}", "{\"activatesAt\":\"2026-01-01T00:00:00Z\",\"destroyedAt\":\"2026-02-01T00:00:00Z\"}", "{\"activatesAt\":\"2026-01-01T00:00:00Z\"}")) {
            Key sender = newSender();
            String set = "{\"keys\":[" + Json.write(sender.record(true)) + "],\"pushcrypt\":{\"seq\":1,\"keys\":{\"" + sender.kid() + "\":" + times + "}}}";
            boolean isActive = times.equals("{\"activatesAt\":\"2026-01-01T00:00:00Z\"}");
            refused("a set of one sender key with the times " + times, isActive ? null : "noKeySeals", () -> SenderKey.fromJwk(set));
        }
        System.out.println("  of suite 3, refused with unsupportedSuite: " + unavailable);
        for (Obj state : cases(vectors("keysets-v1.json"), "states")) {
            Keyset keyset = Keyset.fromJson(state.string("text"));
            Optional<Keyset.Entry> primary = keyset.primary(Instant.ofEpochSecond(((Json.Num) state.get("at")).integer()));
            equal(state.string("name"), state.get("primary"), primary.map(entry -> entry.key().kid()).orElse(null));
            equal(state.string("name"), new TreeMap<>((Obj) state.get("states")), new TreeMap<>(keyset.states(Instant.ofEpochSecond(((Json.Num) state.get("at")).integer()))));
        }
        Obj keys = (Obj) vectors("pushcrypt-v1.json").get("keys"), xwing = (Obj) vectors("xwing-keys.json").get("keys");
        for (Obj campaign : cases(vectors("keysets-v1.json"), "campaigns")) {
            String name = campaign.string("key");
            Key key = publicHalf(Key.read(keys.has(name) ? keys.get(name) : xwing.get(name), false));
            equal("campaign for " + name, campaign.get("id"), new Recipient(key).messageId(campaign.string("campaign")));
        }
        Obj context = (Obj) vectors("pushcrypt-v1.json").get("contextInfo");
        equal("contextInfo", context.get("hex"), hex(Envelope.info(key(keys.get(context.string("key"))), key(keys.get(context.string("signer"))), TOPIC, false)));
        Recipient shared = new Recipient(key(keys.get("shared")));
        equal("a device's key", Json.write(key(keys.get("device")).record(true)), shared.forDevice("phone-1_A").toJwk());
        equal("its device", "phone-1_A", shared.forDevice("phone-1_A").key.device());
        for (String device : List.of("", "a b", "a".repeat(65), "é", "a\n")) refused("device " + device, "invalidDeviceID", () -> shared.forDevice(device));
        refused("a device of a device", "wrongKind", () -> shared.forDevice("a").forDevice("b"));
        refused("a device of a pair", "wrongKind", () -> new Recipient(publicHalf(key(keys.get("p256")))).forDevice("a"));
        checkSets(keys);
        SenderKey made = new SenderKey(newSender());
        equal("a generated key", made.kid(), SenderKey.fromJwk(Json.write(made.key.record(true))).kid());
        check("its public record", !made.publicJwk().contains("\"d\"") && !made.publicJwk().contains(Bytes.base64(made.key.secret())));
        String record = Json.write(made.key.record(true)), longest = record + " ".repeat((4 << 20) - record.length());
        refused("a set of 4 MiB", null, () -> Keyset.fromJson(longest));
        refused("a set of 4 MiB and a byte", "tooLarge", () -> Keyset.fromJson(longest + " "));
        refused("a set of fewer characters and more bytes", "tooLarge", () -> Keyset.fromJson("{\"x\":\"" + "é".repeat(2 << 20) + "\"}"));
        refused("a public record signs", "wrongKind", () -> SenderKey.fromJwk(made.publicJwk()));
        checkPoints();
        for (String broken : List.of("{\"k\":\"SECRET\",}", "{\"k\":\"SECRET\uD800\"}", "{\"k\":\"SECRET\"}[", "{\"kid\":\"SECRET\"}", "[".repeat(9_999) + "SECRET")) {
            List<Body> readers = List.of(() -> Keyset.fromJson(broken), () -> Registration.fromJson(broken), () -> Challenge.Pending.fromJson(broken), () -> Payload.read(broken),
                    () -> Receipt.fromBody(broken), () -> KeysetFile.parse((broken + "\n" + broken + "\n").getBytes(), List.of()), () -> Placeholder.of(broken + '\uD800').alert());
            for (Body reader : readers) {
                Throwable error = null;
                try {
                    reader.run();
                } catch (PushCryptException e) {
                    error = e;
                }
                check("a refusal of a broken text", error != null);
                for (; error != null; error = error.getCause()) check("no text in an error and its causes", !error.toString().contains("SECRET"));
            }
        }
        for (Object object : List.of(made, shared, new SealedBlob.Attachment(new SealedBlob.Reference("u", "SECRET", 1, "s"), "a/b", null, false), new SealedBlob.Reference("u", "SECRET", 1, "s"))) {
            check("no secret in " + object, !object.toString().contains("SECRET") && !object.toString().contains(Bytes.base64(made.key.secret())));
        }
    }

    private static void checkSets(Obj keys) throws Exception {
        Key pair = publicHalf(key(keys.get("p256"))), psk = publicHalf(key(keys.get("p256 psk"))), oct = key(keys.get("shared"));
        String set = set(List.of(pair, psk), "{\"activatesAt\":\"2026-01-01T00:00:00Z\"}", "{\"activatesAt\":\"2027-01-01T00:00:00Z\"}", 7);
        Keyset keyset = Keyset.fromJson(set, 7);
        refused("an older set", "rolledBack", () -> Keyset.fromJson(set, 8));
        equal("the first key", pair.kid(), keyset.recipientAt(Instant.parse("2026-12-31T23:59:59Z"), false).kid());
        equal("the next key", psk.kid(), keyset.recipientAt(Instant.parse("2027-01-01T00:00:00Z"), false).kid());
        refused("no key yet", "noKeySeals", () -> keyset.recipientAt(Instant.parse("2025-12-31T23:59:59Z"), false));
        refused("a set isn't a signer", "wrongKind", () -> keyset.keyAt(Instant.parse("2027-01-01T00:00:00Z")));
        refused("a set as one key", "malformed", () -> Recipient.fromJwk(set));
        String demanding = set(List.of(pair), "{\"activatesAt\":\"2026-01-01T00:00:00Z\",\"psk\":true}", "{}", 1);
        refused("a psk is demanded", "pskMissing", () -> Keyset.fromJson(demanding).recipientAt(Instant.parse("2027-01-01T00:00:00Z"), false));
        Key other = publicHalf(Key.read(((Obj) vectors("xwing-keys.json").get("keys")).get("xwing"), false));
        Keyset.Entry older = new Keyset.Entry(other, Map.of("activatesAt", 1L), false), newer = new Keyset.Entry(pair, Map.of("activatesAt", 2L), false);
        Keyset lower = new Keyset(List.of(older, newer), "recipient", 1, Long.MIN_VALUE);
        refused("a newest key of a lower rank", "suiteTooLow", () -> lower.recipientAt(Instant.ofEpochSecond(1), false));
        equal("which an operator allows", pair.kid(), lower.recipientAt(Instant.ofEpochSecond(2), true).kid());
        String xwing = Json.write(publicHalf(Key.read(((Obj) vectors("xwing-keys.json").get("keys")).get("xwing"), false)).record(false));
        if (HAS_MLKEM) {
            String first = "{\"activatesAt\":\"2026-01-01T00:00:00Z\"}", second = "{\"activatesAt\":\"2026-02-01T00:00:00Z\"}";
            Key strong = Recipient.fromJwk(xwing).key;
            Keyset back = Keyset.fromJson(set(List.of(strong, pair), first, second, 1)), on = Keyset.fromJson(set(List.of(pair, strong), first, second, 1));
            Instant now = Instant.parse("2027-01-01T00:00:00Z");
            refused("a set that goes back", "suiteTooLow", () -> back.recipientAt(now, false));
            equal("an operator allows it", pair.kid(), back.recipientAt(now, true).kid());
            equal("a set that goes on", strong.kid(), on.recipientAt(now, false).kid());
            byte[] wrong = strong.publicBytes().clone();
            wrong[0] = 1;
            wrong[1] = 0x0D;
            check("a coefficient of 3,329", !KeyType.XWING.isValid(wrong, null));
            byte[] low = strong.publicBytes().clone();
            Arrays.fill(low, 1_184, 1_216, (byte) 0);
            refused("an X25519 half of small order", "invalidKey", () -> Recipient.fromJwk(Json.write(new Key(KeyType.XWING, null, low, null, null, null, false).record(false))));
        } else {
            refused("suite 3", "unsupportedSuite", () -> Recipient.fromJwk(xwing));
        }
        equal("shared is a recipient", 4, Keyset.fromJson(Json.write(oct.record(true))).recipientAt(Instant.EPOCH, false).suite());
    }

    private static String set(List<Key> keys, String first, String second, int seq) {
        List<Map<String, String>> records = keys.stream().map(key -> {
            Map<String, String> record = key.record(true);
            record.remove("psk");
            return record;
        }).toList();
        return "{\"keys\":" + Json.write(records) + ",\"pushcrypt\":{\"seq\":" + seq + ",\"keys\":{\"" + keys.get(0).kid() + "\":" + first
                + (keys.size() > 1 ? ",\"" + keys.get(1).kid() + "\":" + second : "") + "}}}";
    }

    /** Points that providers of the platform would take. */
    private static void checkPoints() {
        byte[] off = hex("04" + "00".repeat(31) + "05" + "00".repeat(31) + "01");
        check("a point off P-256", !KeyType.P256.isValid(off, null));
        byte[] base = hex("046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5");
        check("the base point of P-256", KeyType.P256.isValid(base, null));
        // x = 0 and x = p are one coordinate modulo p; y² = b.
        byte[] zero = hex("04" + "00".repeat(32) + "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4");
        byte[] unreduced = hex("04ffffffff00000001000000000000000000000000ffffffffffffffffffffffff66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4");
        check("x = 0", KeyType.P256.isValid(zero, null));
        check("x = p", !KeyType.P256.isValid(unreduced, null));
        check("d = 0", !KeyType.isScalarOfP256(new byte[32]));
        check("d = n", !KeyType.isScalarOfP256(hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")));
        check("d = 1 and its point", KeyType.P256.isValid(base, hex("00".repeat(31) + "01")));
        check("d = n + 1 and that point", !KeyType.P256.isValid(base, hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552")));
        check("d = n - 1", KeyType.isScalarOfP256(hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550")));
    }
}
