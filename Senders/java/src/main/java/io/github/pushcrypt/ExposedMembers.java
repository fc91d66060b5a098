package io.github.pushcrypt;

import io.github.pushcrypt.Json.*;
import java.util.*;

/** The members of the inner {@code aps} that are visible outside (PROTOCOL section 2, "Exposed members"). */
final class ExposedMembers {
    /** The members as JSON text, each with a comma before it: copies, and the default hints. */
    static String of(Obj aps, List<String> names, boolean isQuiet) {
        boolean areRight = names.size() <= 32 && !(isQuiet && names.contains("sound"))
                && names.stream().allMatch(name -> name.matches("[A-Za-z0-9_-]{1,64}") && !name.equals("alert") && !name.equals("mutable-content"));
        if (!areRight) throw new PushCryptException("invalidOption", "a member of aps can't be exposed by its name, or there are more than 32 names");
        StringBuilder members = new StringBuilder();
        boolean isSilent = isQuiet || names.contains("sound") || aps.get("sound") == null || aps.get("sound").equals("")
                || aps.get("sound") instanceof Obj sound && sound.isEmpty();
        if (!isSilent) members.append(",\"sound\":\"default\"");
        if (!names.contains("content-available") && Json.isInteger(aps.get("content-available"), 1, 1)) members.append(",\"content-available\":1");
        for (String name : new LinkedHashSet<>(names)) {
            if (!aps.has(name)) throw new PushCryptException("notExposable", "the payload's aps has no " + name + " to expose");
            if (!fits(name, aps.get(name))) throw new PushCryptException("notExposable", "the type of aps." + name + " isn't one that can be exposed");
            members.append(",\"").append(name).append("\":").append(aps.raw(name));
        }
        return members.toString();
    }
    private static boolean fits(String name, Object value) {
        return switch (name) {
            case "badge" -> Json.isInteger(value, 0, Json.MAX_INTEGER);
            case "category", "filter-criteria", "target-content-id", "thread-id" -> value instanceof String;
            case "content-available" -> Json.isInteger(value, 1, 1);
            case "interruption-level" -> value instanceof String && List.of("passive", "active", "time-sensitive", "critical").contains(value);
            case "relevance-score" -> isNumber(value, -Double.MAX_VALUE, Double.MAX_VALUE);
            case "sound" -> value instanceof String || value instanceof Obj sound && List.of("critical", "name", "volume").containsAll(sound.keySet())
                    && (!sound.has("critical") || Json.isInteger(sound.get("critical"), 0, 1)) && (!sound.has("name") || sound.get("name") instanceof String)
                    && (!sound.has("volume") || isNumber(sound.get("volume"), 0, 1));
            default -> value instanceof String || value instanceof Boolean || isNumber(value, -Double.MAX_VALUE, Double.MAX_VALUE);
        };
    }
    private static boolean isNumber(Object value, double lowest, double highest) {
        return value instanceof Num num && lowest <= Double.parseDouble(num.text()) && Double.parseDouble(num.text()) <= highest;
    }
}
