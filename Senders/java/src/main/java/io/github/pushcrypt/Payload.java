package io.github.pushcrypt;

import io.github.pushcrypt.Json.*;
import java.util.*;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** An inner payload: strict JSON with a text for the user (PROTOCOL sections 2 and 5). */
record Payload(Obj root, Obj aps) {
    static final int MAX_SIZE = 262_144;
    private static final int MAX_VALUES = 16_384;
    /** None of the ranges of "Visible text" (section 2). The noncharacters are the last two code points of each plane, and FDD0-FDEF. */
    private static final Pattern VISIBLE = Pattern.compile("[^\\x00-\\x20\\x7F-\\xA0\\xAD\\u034F\\u061C\\u115F\\u1160\\u1680\\u17B4\\u17B5"
            + "\\u180B-\\u180F\\u2000-\\u200F\\u2028-\\u202F\\u205F-\\u206F\\u2800\\u3000\\u3164\\uFE00-\\uFE0F\\uFEFF\\uFFA0\\uFFF0-\\uFFFC"
            + "\\x{13430}-\\x{1343F}\\x{16FE4}\\x{1BCA0}-\\x{1BCA3}\\x{1D159}\\x{1D173}-\\x{1D17A}\\x{E0000}-\\x{E0FFF}"
            + "\\p{IsNoncharacter_Code_Point}]");
    static boolean isVisible(Object text) { return text instanceof String string && VISIBLE.matcher(string).find(); }
    /** Whether an alert is a visible string, or an object with a visible text or key of a text. */
    static boolean hasText(Object alert) {
        return isVisible(alert) || alert instanceof Map<?, ?> members
                && Stream.of("title", "subtitle", "body", "loc-key", "title-loc-key").anyMatch(name -> isVisible(members.get(name)));
    }
    /** Reads a payload to seal. Spaces behind it don't count. Throws {@link PushCryptException} with {@code invalidPayload}. */
    static Payload read(byte[] json) {
        return Flaw.coded("invalidPayload", "the payload", () -> {
            int end = json.length;
            while (end > 0 && json[end - 1] == ' ') end--;
            Flaw.unless(end <= MAX_SIZE, "it has more than 262,144 bytes");
            Obj root = Json.parse(Arrays.copyOf(json, end)), aps = Json.object(root.get("aps"), "aps");
            Flaw.unless(count(root) <= MAX_VALUES, "it has more than 16,384 JSON values");
            Flaw.unless(hasText(aps.get("alert")), "its aps has no alert with a text that a person can see");
            Flaw.unless(!root.has("pushcrypt"), "it already has a pushcrypt member");
            boolean isActivity = Stream.of("content-state", "attributes", "attributes-type").anyMatch(name -> aps.get(name) != null)
                    || Stream.of("start", "update", "end").anyMatch(event -> event.equals(aps.get("event")));
            Flaw.unless(!isActivity, "it is that of a Live Activity, for which iOS runs no extension: send it without private content");
            return new Payload(root, aps);
        });
    }
    static Payload read(String json) { return read(Flaw.coded("invalidPayload", "the payload", () -> Bytes.utf8(json))); }
    private static int count(Object value) {
        Collection<?> children = value instanceof Obj object ? object.values() : value instanceof List<?> items ? items : List.of();
        return 1 + children.stream().mapToInt(Payload::count).sum();
    }
    /** The message: the header is the last member of the root, and no other byte changes. */
    byte[] withHeader(String header) {
        int end = root.spans.values().stream().mapToInt(span -> span[1]).max().orElseThrow();
        return Bytes.utf8(root.text.substring(0, end) + ",\"pushcrypt\":" + header + root.text.substring(end));
    }
    /** The members of aps that are visible outside, as JSON text, each with a comma before it: copies, and the default hints. */
    String exposed(List<String> names, boolean isQuiet) {
        boolean areRight = names.size() <= 32 && !(isQuiet && names.contains("sound"))
                && names.stream().allMatch(name -> name.matches("[A-Za-z0-9_-]{1,64}") && !name.equals("alert") && !name.equals("mutable-content"));
        Flaw.unless(areRight, "invalidOption", "a member of aps can't be exposed by its name, or there are more than 32 names");
        StringBuilder members = new StringBuilder();
        Object sound = aps.get("sound");
        boolean isSilent = isQuiet || names.contains("sound") || sound == null || sound.equals("") || sound instanceof Obj object && object.isEmpty();
        if (!isSilent) members.append(",\"sound\":\"default\"");
        if (!names.contains("content-available") && canExpose("content-available")) members.append(",\"content-available\":1");
        for (String name : new LinkedHashSet<>(names)) {
            Flaw.unless(aps.has(name), "notExposable", "the payload's aps has no " + name + " to expose");
            Flaw.unless(canExpose(name), "notExposable", "the type of aps." + name + " isn't one that can be exposed");
            members.append(",\"").append(name).append("\":").append(aps.raw(name));
        }
        return members.toString();
    }
    private boolean canExpose(String name) {
        Object value = aps.get(name);
        return switch (name) {
            case "badge" -> Json.isInteger(value, 0, Json.MAX_INTEGER);
            case "category", "filter-criteria", "target-content-id", "thread-id" -> value instanceof String;
            case "content-available" -> Json.isInteger(value, 1, 1);
            case "interruption-level" -> Arrays.asList("passive", "active", "time-sensitive", "critical").contains(value);
            case "relevance-score" -> isNumber(value, -Double.MAX_VALUE, Double.MAX_VALUE);
            case "sound" -> value instanceof String || value instanceof Obj sound && Set.of("critical", "name", "volume").containsAll(sound.keySet())
                    && (!sound.has("critical") || Json.isInteger(sound.get("critical"), 0, 1))
                    && (!sound.has("name") || sound.get("name") instanceof String) && (!sound.has("volume") || isNumber(sound.get("volume"), 0, 1));
            default -> value instanceof String || value instanceof Boolean || isNumber(value, -Double.MAX_VALUE, Double.MAX_VALUE);
        };
    }
    private static boolean isNumber(Object value, double lowest, double highest) {
        return value instanceof Num num && lowest <= Double.parseDouble(num.text()) && Double.parseDouble(num.text()) <= highest;
    }
}
