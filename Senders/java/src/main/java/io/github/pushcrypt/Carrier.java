package io.github.pushcrypt;

import io.github.pushcrypt.Json.*;
import java.util.*;
import java.util.stream.Collectors;

/** The way of a push to the device (PROTOCOL section 2, docs/services.md). The app names it too: the payload never chooses. */
public enum Carrier {
    /** APNs itself, and services that bring the sealed bytes unchanged. */
    APNS(0, Map.of(), "pushcrypt"),
    /** A client that writes the JSON again. */
    REBUILT(64, Map.of(), "pushcrypt"),
    /** Firebase, {@code apns.payload}. */
    FCM(192, Map.of(), "pushcrypt"),
    /** Firebase, {@code data}, and services whose custom values are strings. */
    TEXT(192, Map.of(), "pushcrypt"),
    /** Expo. */
    EXPO(192, Map.of("sound", "sound", "badge", "badge", "category", "categoryId", "interruption-level", "interruptionLevel",
            "content-available", "_contentAvailable"), "body", "pushcrypt"),
    /** OneSignal. */
    ONE_SIGNAL(128, Map.of("sound", "ios_sound", "badge", "ios_badgeCount", "category", "ios_category", "thread-id", "thread_id",
            "interruption-level", "ios_interruption_level", "relevance-score", "ios_relevance_score",
            "target-content-id", "target_content_identifier", "content-available", "content_available"), "custom", "a", "pushcrypt");
    /** The bytes that client and service add at most. */
    final int reserved;
    /** The fields for exposed members of {@code aps}, of a service that writes {@code aps} itself; empty for the others. */
    private final Map<String, String> fields;
    /** The names of the envelope and of the objects around it, from the root. */
    final List<String> place;
    Carrier(int reserved, Map<String, String> fields, String... place) {
        this.reserved = reserved;
        this.fields = fields;
        this.place = List.of(place);
    }
    /** The outer payload before and behind the characters of {@code sealed}, with the envelope at its place. */
    String[] frame(String aps, String head, String tail) {
        String names = place.stream().map(name -> '"' + name + "\":").collect(Collectors.joining("{"));
        String start = this == TEXT ? '"' + head.replace("\"", "\\\"") : head, end = this == TEXT ? tail.replace("\"", "\\\"") + '"' : tail;
        return new String[] {"{\"aps\":" + aps + "," + names + start, end + "}".repeat(place.size())};
    }
    /** Refuses what the service has no field for. */
    void check(Map<String, Object> alert, List<String> exposed, Map<String, Object> aps) {
        if (fields.isEmpty()) return;
        boolean takesAlert = List.of("title", "subtitle", "body").containsAll(alert.keySet()) && (this != ONE_SIGNAL || alert.containsKey("body"));
        Flaw.unless(takesAlert, "invalidPlaceholder", "the service takes only the texts title, subtitle and body, and OneSignal needs a body");
        boolean takesMembers = fields.keySet().containsAll(exposed) && (!exposed.contains("sound") || aps.get("sound") instanceof String);
        Flaw.unless(takesMembers, "notExposable", "the service has no field for an exposed member, or takes only the name of a sound");
    }
    Map<String, Object> request(SealedPush push) {
        Map<String, Object> payload = push.payload();
        Map<?, ?> aps = (Map<?, ?>) payload.get("aps");
        Map<String, String> headers = push.headers();
        if (this == APNS || this == REBUILT) return Json.map("headers", headers, "payload", payload);
        if (!fields.isEmpty()) return service(push, payload, aps);
        headers.remove("apns-topic");
        Map<String, Object> message = Json.map("apns", Json.map("headers", headers, "payload", this == FCM ? payload : Map.of("aps", aps)));
        if (this == TEXT) message.put("data", Map.of("pushcrypt", payload.get("pushcrypt")));
        return Json.map("message", message);
    }
    /** The request to a service that writes {@code aps} itself. */
    private Map<String, Object> service(SealedPush push, Map<String, Object> payload, Map<?, ?> aps) {
        boolean isExpo = this == EXPO;
        long expiry = push.expiresAt().getEpochSecond(), lifetime = Math.min(expiry - push.sealedAt().getEpochSecond(), 28 * 86_400);
        Object data = isExpo ? payload.get("body") : ((Map<?, ?>) payload.get("custom")).get("a");
        Map<String, Object> members = isExpo
                ? Json.map("mutableContent", true, "data", data, "priority", push.isQuiet() ? "normal" : "high", "expiration", expiry)
                : Json.map("mutable_content", true, "data", data, "priority", push.isQuiet() ? 5 : 10, "ttl", lifetime);
        Map<String, String> texts = isExpo ? Map.of() : Map.of("title", "headings", "body", "contents");
        ((Map<?, ?>) aps.get("alert")).forEach((name, text) ->
                members.put(texts.getOrDefault(name, name.toString()), isExpo ? text : Map.of("en", text)));
        fields.forEach((name, field) -> {
            Object value = name.equals("content-available") ? Boolean.TRUE : aps.get(name);
            boolean isLevel = name.equals("interruption-level") && !isExpo;
            if (aps.get(name) != null) members.put(field, isLevel ? value.toString().replace('-', '_') : value);
        });
        if (push.collapseId() != null) members.put("collapse_id", push.collapseId());
        if (!isExpo && aps.get("badge") != null) members.put("ios_badgeType", "SetTo");
        // Otherwise OneSignal adds the default sound.
        if (!isExpo) members.putIfAbsent("ios_sound", "nil");
        return members;
    }
    /** A value as other libraries have it: maps, lists, strings, {@code Long} or the nearest {@code Double}, booleans and null. */
    static Object plain(Object value) {
        if (value instanceof Num num) return Json.isInteger(num, Long.MIN_VALUE, Long.MAX_VALUE) ? (Object) num.integer() : Double.valueOf(num.text());
        if (value instanceof List<?> items) return items.stream().map(Carrier::plain).collect(ArrayList::new, ArrayList::add, ArrayList::addAll);
        if (!(value instanceof Obj object)) return value;
        Map<String, Object> members = new LinkedHashMap<>(object);
        members.replaceAll((name, member) -> plain(member));
        return members;
    }
}
