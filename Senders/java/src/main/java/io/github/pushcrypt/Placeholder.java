package io.github.pushcrypt;

import java.util.*;

/**
 * The unencrypted text, which the device shows if it can't open the push. APNs can read all of it. Texts are literal, or keys of the
 * app's strings with arguments, which the device localises. Sealing refuses a placeholder without a text that a person can see.
 */
public final class Placeholder {
    private static final List<String> TEXTS = List.of("title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key", "launch-image");
    private static final List<String> ARGUMENTS = List.of("title-loc-args", "subtitle-loc-args", "loc-args");
    private final Map<String, Object> alert;
    private Placeholder(Map<String, Object> alert) { this.alert = alert; }
    /** A literal title and body. */
    public static Placeholder of(String title, String body) { return of(body).with("title", title); }
    /** A literal body alone. */
    public static Placeholder of(String body) { return new Placeholder(Map.of()).with("body", body); }
    /** Sets a member of Apple's alert: a literal text, the key of a text, or {@code launch-image}. An empty value removes it. */
    public Placeholder with(String name, String value) { return changed(name, value, value.isEmpty(), TEXTS); }
    /** Sets the arguments of a text: {@code title-loc-args}, {@code subtitle-loc-args} or {@code loc-args}. */
    public Placeholder with(String name, List<String> arguments) { return changed(name, List.copyOf(arguments), arguments.isEmpty(), ARGUMENTS); }
    private Placeholder changed(String name, Object value, boolean isEmpty, List<String> names) {
        Flaw.unless(names.contains(name), "invalidPlaceholder", "an alert has no such member: " + name);
        Map<String, Object> members = new LinkedHashMap<>(alert);
        members.put(name, value);
        if (isEmpty) members.remove(name);
        return new Placeholder(members);
    }
    Map<String, Object> alert() {
        Flaw.coded("invalidPlaceholder", "the placeholder", () -> Bytes.utf8(alert.toString()));
        Flaw.unless(Payload.hasText(alert), "invalidPlaceholder", "it has no text that a person can see, so iOS wouldn't run the app's extension");
        return alert;
    }
}
