package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;
import static io.github.pushcrypt.SealingTests.*;

import io.github.pushcrypt.Json.Obj;
import java.util.*;

/** carriers-v1.json: where envelopes stand; and the requests to services. */
final class CarrierTests {
    private CarrierTests() {}

    private static Object at(Obj root, List<String> place) {
        Object value = root;
        for (String name : place) value = ((Obj) value).get(name);
        return value;
    }

    static void run() throws Exception {
        Map<String, Carrier> names = Map.of("apns", Carrier.APNS, "rebuilt", Carrier.REBUILT, "fcm", Carrier.FCM, "text", Carrier.TEXT, "expo", Carrier.EXPO, "oneSignal", Carrier.ONE_SIGNAL);
        Recipient to = recipient("p256");
        int count = 0;
        for (Obj vector : cases(vectors("carriers-v1.json"), "vectors")) {
            List<?> carriers = vector.list("carriers", 1, 9);
            if (vector.get("failure") != null || carriers.size() > 1 || vector.string("name").contains("white space")) continue;
            Carrier carrier = names.get(carriers.get(0));
            Obj theirs = Json.parse(vector.string("payload").getBytes("UTF-8"));
            Object envelope = at(theirs, carrier.place);
            equal(vector.string("name"), carrier == Carrier.TEXT, envelope instanceof String);
            Obj object = envelope instanceof String text ? Json.parse(text.getBytes("UTF-8")) : (Obj) envelope;
            String aps = "{\"alert\":\"New message\",\"mutable-content\":1}", sealed = object.string("sealed");
            String[] frame = carrier.frame(aps, "{\"v\":1,\"kid\":\"" + object.string("kid") + "\",\"sealed\":\"", "\"}");
            if (theirs.get("aps") instanceof Obj own && own.size() == 2) equal(vector.string("name"), Json.write(at(theirs, carrier.place)), Json.write(at(Json.parse((frame[0] + sealed + frame[1]).getBytes("UTF-8")), carrier.place)));
            count++;
        }
        check("vectors of one carrier: " + count, count >= 6);
        for (Map.Entry<String, Carrier> one : names.entrySet()) {
            SealOptions options = SealOptions.DEFAULT.carrier(one.getValue());
            int reserved = List.of(0, 64, 192, 192, 192, 128).get(one.getValue().ordinal());
            int length = sealer(true).seal(body(1), to, PLACEHOLDER, options.padding(SealOptions.TO_LIMIT)).json().length();
            check(one.getKey() + " leaves bytes free: " + length, length <= 4_096 - reserved && length > 4_090 - reserved);
            check("and takes them if they are given", sealer(true).seal(body(1), to, PLACEHOLDER, options.limit(4_096).padding(4_096)).json().length() > 4_090);
        }
        checkRequests(to);
    }

    private static Map<?, ?> members(SealedPush push) { return push.request(); }

    private static void checkRequests(Recipient to) throws Exception {
        String payload = "{\"aps\":{\"alert\":\"x\",\"badge\":3,\"sound\":\"s.caf\",\"category\":\"C\",\"thread-id\":\"T\",\"interruption-level\":\"time-sensitive\",\"relevance-score\":0.5,\"content-available\":1}}";
        Placeholder texts = Placeholder.of("Title", "Body").with("subtitle", "Sub");
        SealOptions options = SealOptions.DEFAULT.expiresAfter(java.time.Duration.ofDays(29));
        for (Carrier carrier : List.of(Carrier.APNS, Carrier.REBUILT)) {
            SealedPush push = sealer(true).seal(payload, to, texts, options.carrier(carrier));
            Map<String, Object> request = push.request();
            check("apns", request.equals(Map.of("headers", push.headers(), "payload", push.payload())));
        }
        SealedPush fcm = sealer(true).seal(payload, to, texts.with("loc-key", "K"), options.carrier(Carrier.FCM).collapseId("c"));
        Map<?, ?> apns = (Map<?, ?>) ((Map<?, ?>) members(fcm).get("message")).get("apns"), headers = (Map<?, ?>) apns.get("headers");
        check("fcm", apns.get("payload").equals(fcm.payload()) && headers.get("apns-collapse-id").equals("c") && !headers.containsKey("apns-topic") && headers.size() == 4);
        SealedPush text = sealer(true).seal(payload, to, texts, options.carrier(Carrier.TEXT));
        Map<?, ?> message = (Map<?, ?>) members(text).get("message");
        check("text", ((Map<?, ?>) message.get("data")).get("pushcrypt") instanceof String && ((Map<?, ?>) ((Map<?, ?>) message.get("apns")).get("payload")).keySet().equals(Set.of("aps")));
        SealedPush expo = sealer(true).seal(payload, to, texts, options.carrier(Carrier.EXPO).exposing("badge", "category", "sound", "interruption-level"));
        Map<?, ?> fields = members(expo);
        check("expo " + fields.keySet(), fields.keySet().equals(Set.of("mutableContent", "title", "subtitle", "body", "sound", "badge", "categoryId", "interruptionLevel", "_contentAvailable", "data", "priority", "expiration")));
        check("values of expo", fields.get("expiration").equals(1_802_505_600L) && fields.get("badge").equals(3L) && fields.get("sound").equals("s.caf") && fields.get("priority").equals("high")
                && fields.get("interruptionLevel").equals("time-sensitive") && ((Map<?, ?>) fields.get("data")).containsKey("pushcrypt") && fields.get("_contentAvailable").equals(true));
        SealedPush signal = sealer(true).seal(payload, to, texts, options.carrier(Carrier.ONE_SIGNAL).collapseId("c").quiet().exposing("badge", "thread-id", "relevance-score", "interruption-level"));
        Map<?, ?> one = members(signal);
        check("oneSignal " + one.keySet(), one.keySet().equals(Set.of("mutable_content", "headings", "subtitle", "contents", "ios_sound", "ios_badgeCount", "ios_badgeType", "thread_id", "ios_relevance_score", "ios_interruption_level", "content_available", "data", "priority", "ttl", "collapse_id")));
        check("values of oneSignal", one.get("ios_sound").equals("nil") && one.get("priority").equals(5) && one.get("ttl").equals(28L * 86_400) && one.get("contents").equals(Map.of("en", "Body"))
                && one.get("ios_interruption_level").equals("time_sensitive") && one.get("ios_badgeType").equals("SetTo") && ((Map<?, ?>) one.get("data")).containsKey("pushcrypt"));
        check("a request is JSON", Json.write(one).length() > 100);
        for (Carrier carrier : List.of(Carrier.EXPO, Carrier.ONE_SIGNAL)) {
            refused("keys of texts", "invalidPlaceholder", () -> sealer(true).seal(payload, to, texts.with("loc-key", "K"), options.carrier(carrier)));
            refused("a member without a field", "notExposable", () -> sealer(true).seal(payload.replace("\"category\"", "\"filter-criteria\""), to, texts, options.carrier(carrier).exposing("filter-criteria")));
            refused("a sound that is an object", "notExposable", () -> sealer(true).seal(payload.replace("\"s.caf\"", "{\"name\":\"s\"}"), to, texts, options.carrier(carrier).exposing("sound")));
        }
        for (String number : List.of("1e-99999999999", "-1E-400", "0.5", "1e308", "-0", "12345678901234567890")) {
            for (Carrier carrier : Carrier.values()) {
                String scored = payload.replace("0.5", number);
                SealOptions given = options.carrier(carrier).exposing(carrier == Carrier.EXPO ? "badge" : "relevance-score");
                Map<String, Object> request = sealer(true).seal(scored, to, texts, given).request();
                check("the request with the score " + number, Json.write(request).length() > 100);
                if (carrier == Carrier.ONE_SIGNAL) equal("the score " + number, Double.parseDouble(number), ((Number) request.get("ios_relevance_score")).doubleValue());
            }
        }
        for (String number : List.of("1e99999999999", "-1e309")) {
            refused("the score " + number, "notExposable", () -> sealer(true).seal(payload.replace("0.5", number), to, texts, options.exposing("relevance-score")));
        }
        refused("a body is needed", "invalidPlaceholder", () -> sealer(true).seal(payload, to, texts.with("body", ""), options.carrier(Carrier.ONE_SIGNAL)));
        refused("a thread of expo", "notExposable", () -> sealer(true).seal(payload, to, texts, options.carrier(Carrier.EXPO).exposing("thread-id")));
        refused("a collapse id of expo", "invalidOption", () -> sealer(true).seal(payload, to, texts, options.carrier(Carrier.EXPO).collapseId("c")));
    }
}
