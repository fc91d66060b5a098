package io.github.pushcrypt;

import io.github.pushcrypt.Json.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.util.*;
import java.util.regex.*;

/** The package behind the wire of the conformance kit (Conformance/README.md of the repository). */
public final class ConformanceProgram {
    private static final Map<String, Carrier> CARRIERS = Map.of("apns", Carrier.APNS, "rebuilt", Carrier.REBUILT, "fcm", Carrier.FCM, "text", Carrier.TEXT, "expo", Carrier.EXPO,
            "oneSignal", Carrier.ONE_SIGNAL);

    private ConformanceProgram() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.US_ASCII);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher tag = Pattern.compile("\"tag\": ?([0-9]+)").matcher(line);
            Map<String, Object> answer = Json.map("tag", tag.find() ? Long.valueOf(tag.group(1)) : -1);
            answer.putAll(answered(line));
            StringBuilder ascii = new StringBuilder();
            Json.write(answer).chars().forEach(c -> ascii.append(c < 0x7F ? (char) c + "" : "\\u" + HexFormat.of().toHexDigits((char) c)));
            out.println(ascii);
        }
    }

    private static Map<String, Object> answered(String line) {
        try {
            Map<String, Object> answer = Json.map("ok", true);
            Map<String, Object> found = run(Json.parse(line.getBytes(StandardCharsets.UTF_8)));
            if (found == null) return Json.map("unsupported", "the recipient's side");
            answer.putAll(found);
            return answer;
        } catch (PushCryptException e) {
            // A private X-Wing key is no recipient on any platform. Elsewhere the platform can't check such a pair.
            boolean isRefused = e.getMessage().contains("seed") && (line.contains("\"op\": \"seal\"") || line.contains("\"as\": \"recipient\""));
            return e.code().equals("unsupportedSuite") && !isRefused ? Json.map("unsupported", "suite 3") : Json.map("failure", e.code());
        } catch (Flaw | ClassCastException | ArithmeticException e) {
            return Json.map("failure", "malformed");
        }
    }

    private static Map<String, Object> run(Obj request) {
        return switch (request.string("op")) {
            case "seal" -> seal(request);
            case "record" -> Json.map("kid", registration(request).kid());
            case "keys" -> keys(request);
            case "challenge" -> challenge(request);
            case "confirm" -> confirm(request);
            case "change" -> change(request);
            case "receipt" -> receipt(request);
            case "blob" -> blob(request);
            default -> null;
        };
    }

    private static Instant at(Obj request) { return Instant.ofEpochSecond(request.integer("at", 0, Json.MAX_INTEGER)); }

    private static boolean isSet(String text) {
        try {
            return Json.parse(text.getBytes(StandardCharsets.UTF_8)).has("pushcrypt");
        } catch (Flaw e) {
            return false;
        }
    }

    private static Sealer sealer(Obj request) {
        Sealer.Signer signer = null;
        if (request.has("signWith")) {
            String text = request.string("signWith");
            signer = isSet(text) ? Keyset.fromJson(text) : SenderKey.fromJwk(text);
        }
        return new Sealer(request.string("topic"), signer, InstantSource.fixed(at(request)));
    }

    private static Map<String, Object> seal(Obj request) {
        String text = request.string("to");
        Recipient to = isSet(text) ? Keyset.fromJson(text).recipientAt(at(request), false) : Recipient.fromJwk(text);
        if (request.has("device")) to = to.forDevice(request.string("device"));
        Placeholder placeholder = Placeholder.of("");
        for (var member : request.members("placeholder").entrySet()) {
            placeholder = member.getValue() instanceof List<?> items ? placeholder.with(member.getKey(), strings(items)) : placeholder.with(member.getKey(), (String) member.getValue());
        }
        SealedPush push = sealer(request).seal(request.string("payload"), to, placeholder, options(request));
        return Json.map("payload", push.json(), "id", push.id(), "expiresAt", push.expiresAt().getEpochSecond(), "usesLastResortKey", push.usesLastResortKey());
    }

    private static List<String> strings(List<?> items) { return items.stream().map(String.class::cast).toList(); }

    private static int number(Obj request, String name) { return Math.toIntExact(request.integer(name, Long.MIN_VALUE, Long.MAX_VALUE)); }

    private static boolean isTrue(Obj request, String name) { return request.has(name) && (Boolean) request.get(name); }

    private static SealOptions options(Obj request) {
        SealOptions options = SealOptions.DEFAULT;
        if (request.get("pad") instanceof String pad) options = options.padding(pad.equals("max") ? SealOptions.TO_LIMIT : SealOptions.NO_PADDING);
        else if (request.has("pad")) options = options.padding(number(request, "pad"));
        if (request.has("limit")) options = options.limit(number(request, "limit"));
        if (request.has("expires")) options = options.expiresAfter(Duration.ofSeconds(number(request, "expires")));
        if (request.has("expose")) options = options.exposing(strings(request.list("expose", 0, 1_000)).toArray(String[]::new));
        if (request.has("retract")) options = options.retracting(strings(request.list("retract", 0, 1_000)));
        if (isTrue(request, "bare")) options = options.bare();
        if (isTrue(request, "requiresDayKey")) options = options.requiringDayKey();
        if (isTrue(request, "quiet")) options = options.quiet();
        if (isTrue(request, "selfTest")) options = options.selfTest();
        if (request.has("carrier")) {
            Carrier carrier = CARRIERS.get(request.string("carrier"));
            if (carrier == null) throw new PushCryptException("invalidOption", "no such carrier");
            options = options.carrier(carrier);
        }
        if (request.has("campaign")) options = options.campaign(request.string("campaign"));
        if (request.get("badgeAdd") != null) options = options.badgeAdd(number(request, "badgeAdd"));
        if (request.get("minimumSuite") != null) options = options.minimumSuite(number(request, "minimumSuite"));
        if (request.has("attachments")) {
            options = options.attaching(request.list("attachments", 0, 1_000).stream().map(one -> attachment(Json.object(one, "it"))).toArray(SealedBlob.Attachment[]::new));
        }
        if (request.get("offload") instanceof Obj one) {
            options = options.offloading(new SealedBlob.Reference(one.string("url"), one.string("key"), one.integer("size", Long.MIN_VALUE, Long.MAX_VALUE), one.string("sha256")));
        }
        return options;
    }

    private static SealedBlob.Attachment attachment(Obj one) {
        if (one.has("use") && !"avatar".equals(one.get("use"))) throw new PushCryptException("invalidOption", "no such use");
        return new SealedBlob.Attachment(new SealedBlob.Reference(one.string("url"), one.string("key"), one.integer("size", Long.MIN_VALUE, Long.MAX_VALUE), one.string("sha256")), one.string("type"),
                one.has("id") ? one.string("id") : null, one.has("use"));
    }

    private static Registration registration(Obj request) {
        List<?> demands = request.has("requiring") ? request.list("requiring", 0, 2) : List.of();
        return Registration.fromJson(request.string("record"), demands.stream().map(one -> Registration.Demand.valueOf(one.toString().toUpperCase(Locale.ROOT))).toArray(Registration.Demand[]::new));
    }

    private static Map<String, Object> keys(Obj request) {
        String text = request.string("text"), as = request.string("as");
        if (as.equals("recipient")) return Json.map("kids", List.of(Recipient.fromJwk(text).kid()));
        if (as.equals("signer")) return Json.map("kids", List.of(SenderKey.fromJwk(text).kid()));
        Keyset keyset = Keyset.fromJson(text);
        if (as.equals("senders") && !keyset.kind().equals("sender")) throw new PushCryptException("wrongKind", "no senders");
        Map<String, Object> answer = Json.map("kids", keyset.entries.stream().map(entry -> entry.key().kid()).toList());
        if (request.has("at")) {
            answer.put("primary", keyset.primary(at(request)).map(entry -> entry.key().kid()).orElse(null));
            answer.put("states", keyset.states(at(request)));
        }
        return answer;
    }

    private static Map<String, Object> challenge(Obj request) {
        Challenge made = sealer(request).challenge(registration(request), request.string("host"));
        return Json.map("challenge", made.json(), "pending", Json.parse(made.pending().toJson().getBytes(StandardCharsets.UTF_8)));
    }

    private static Map<String, Object> confirm(Obj request) {
        Registration confirmed = Challenge.Pending.fromJson(Json.write(request.get("pending"))).confirm(request.string("answer"), at(request));
        return Json.map("record", confirmed.record(), "kid", confirmed.kid(), "suite", confirmed.recipient().suite());
    }

    private static Registration.Row row(Obj one) {
        return new Registration.Row(Registration.fromJson(one.string("record")), one.string("account"), one.string("deviceToken"), (String) one.get("environment"));
    }

    private static Map<String, Object> change(Obj request) {
        List<Registration.Row> rows = request.list("stored", 0, 1_000).stream().map(one -> row((Obj) one)).toList();
        Registration.Change change = Registration.Change.storing(row((Obj) request.get("upload")), rows, isTrue(request, "proven"), isTrue(request, "allowsLowerSuite"));
        return Json.map("write", change.isWritten(), "remove", change.removed());
    }

    private static Map<String, Object> receipt(Obj request) {
        Receipt read = Receipt.fromBody(request.string("body"));
        return Json.map("receipt", Json.map("id", read.id(), "name", read.name(), "push", read.pushId(), "outcome", read.failure() == null ? "opened" : read.failure(), "time", read.time(),
                "kid", read.kid(), "skid", read.skid(), "suppressed", read.isSuppressed(), "test", read.isSelfTest()));
    }

    private static Map<String, Object> blob(Obj request) {
        if (!request.has("plaintext")) return null;
        byte[] plaintext = request.string("plaintext").isEmpty() ? new byte[0] : request.bytes("plaintext", 0);
        boolean isFile = request.string("purpose").equals("attachment");
        SealedBlob blob = isFile ? SealedBlob.ofFile(plaintext) : SealedBlob.ofPayload(new String(plaintext, StandardCharsets.UTF_8));
        SealedBlob.Reference reference = isFile ? blob.attachment("https://a", "a/b").blob() : blob.offload("https://a");
        return Json.map("blob", Bytes.base64(blob.bytes()), "reference", Json.map("key", reference.key(), "size", reference.size(), "sha256", reference.sha256()));
    }
}
