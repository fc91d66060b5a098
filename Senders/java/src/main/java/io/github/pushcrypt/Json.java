package io.github.pushcrypt;

import static java.util.stream.Collectors.joining;

import java.util.*;
import java.util.regex.*;
import java.util.stream.StreamSupport;

/** Strict JSON (PROTOCOL section 2). A value that was read is null, a String, a Boolean, a {@link Num}, a List or an {@link Obj}. */
public final class Json {
    static final long MAX_INTEGER = (1L << 53) - 1;
    private static final int MAX_DEPTH = 64;
    private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");
    private static final Pattern INTEGER = Pattern.compile("0|-?[1-9][0-9]{0,15}");
    private static final String ESCAPES = "btnfr\"\\/", ESCAPED = "\b\t\n\f\r\"\\/";
    private final String text;
    private final boolean isCompact;
    private int at;
    private Json(String text, boolean isCompact) {
        this.text = text;
        this.isCompact = isCompact;
    }
    /** A number as it is written. */
    record Num(String text) {
        long integer() { return Long.parseLong(text); }
        @Override public String toString() { return text; }
    }
    /** An object, with the start and the end of each member's value in the text. */
    static final class Obj extends LinkedHashMap<String, Object> {
        private static final long serialVersionUID = 1;
        final transient String text;
        final transient Map<String, int[]> spans = new HashMap<>();
        private Obj(String text) { this.text = text; }
        boolean has(String name) { return containsKey(name); }
        String raw(String name) { return text.substring(spans.get(name)[0], spans.get(name)[1]); }
        long time(String name) { return Keyset.seconds(get(name), name); }
        byte[] bytes(String name, int size) { return Bytes.base64(get(name), size, name); }
        /** None if there is no such member. */
        Obj members(String name) { return has(name) ? object(get(name), name) : new Obj(text); }
        String string(String name) {
            if (get(name) instanceof String value) return value;
            throw new Flaw(name + " isn't a string");
        }
        long integer(String name, long lowest, long highest) {
            Flaw.unless(isInteger(get(name), lowest, highest), name + " isn't an integer of " + lowest + " to " + highest);
            return ((Num) get(name)).integer();
        }
        List<?> list(String name, int fewest, int most) {
            if (get(name) instanceof List<?> items && fewest <= items.size() && items.size() <= most) return items;
            throw new Flaw(name + " isn't an array of " + fewest + " to " + most + " elements");
        }
    }
    static Obj object(Object value, String name) {
        if (value instanceof Obj object) return object;
        throw new Flaw(name + " isn't an object");
    }
    /** Whether it is a number without fraction and exponent, not -0, and in the range. */
    static boolean isInteger(Object value, long lowest, long highest) {
        return value instanceof Num num && INTEGER.matcher(num.text).matches() && lowest <= num.integer() && num.integer() <= highest;
    }
    static Map<String, Object> map(Object... members) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int at = 0; at < members.length; at += 2) map.put((String) members[at], members[at + 1]);
        return map;
    }
    /** Writes compact JSON of maps, iterables, strings, finite numbers, booleans and null. Refuses other values with {@code malformed}. */
    public static String write(Object value) { return Flaw.coded("malformed", "the value", () -> written(value, 0)); }
    private static String written(Object value, int depth) {
        Flaw.unless(depth <= MAX_DEPTH, "arrays and objects are nested too deep");
        boolean isNumber = value instanceof Num || value instanceof Number && NUMBER.matcher(value.toString()).matches();
        if (isNumber || value == null || value instanceof Boolean) return String.valueOf(value);
        if (value instanceof String string) return quoted(string);
        if (value instanceof Iterable<?> items) {
            return StreamSupport.stream(items.spliterator(), false).map(item -> written(item, depth + 1)).collect(joining(",", "[", "]"));
        }
        Flaw.unless(value instanceof Map<?, ?>, "JSON can't represent a " + value.getClass().getSimpleName() + " with this value");
        return ((Map<?, ?>) value).entrySet().stream().map(member -> {
            Flaw.unless(member.getKey() instanceof String, "a member's name isn't a string");
            return quoted((String) member.getKey()) + ":" + written(member.getValue(), depth + 1);
        }).collect(joining(",", "{", "}"));
    }
    private static String quoted(String string) {
        Bytes.utf8(string);
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : string.toCharArray()) {
            int escape = c == '/' ? -1 : ESCAPED.indexOf(c);
            if (escape >= 0) quoted.append('\\').append(ESCAPES.charAt(escape));
            else if (c < 0x20) quoted.append("\\u").append(HexFormat.of().toHexDigits(c));
            else quoted.append(c);
        }
        return quoted.append('"').toString();
    }
    static Obj parse(byte[] utf8) { return parse(Bytes.text(utf8), false); }
    static Obj parse(String text) { return parse(text, false); }
    /** The root, which must be an object. If {@code isCompact}, there must be no white space outside of strings. */
    static Obj parse(String text, boolean isCompact) {
        Json json = new Json(text, isCompact);
        json.skip();
        Obj root = object(json.value(1), "the root");
        json.skip();
        json.require(json.at == text.length(), "more than white space after the object");
        return root;
    }
    private void require(boolean isRight, String flaw) { Flaw.unless(isRight, isRight ? "" : "there is " + flaw + " at character " + at); }
    private char next() {
        require(at < text.length(), "no more text");
        return text.charAt(at++);
    }
    private boolean takes(String token) {
        boolean takes = text.startsWith(token, at);
        at += takes ? token.length() : 0;
        return takes;
    }
    private void skip() {
        for (; at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0; at++) require(!isCompact, "white space");
    }
    /** Moves past the closing bracket, or to the next element. */
    private boolean isClosed(String closing, boolean isFirst) {
        skip();
        if (takes(closing)) return true;
        require(isFirst || takes(","), "neither a comma nor a closing bracket");
        skip();
        return false;
    }
    private Object value(int depth) {
        if (takes("\"")) return string();
        if (takes("null")) return null;
        if (takes("true")) return true;
        if (takes("false")) return false;
        boolean isObject = takes("{");
        if (isObject || takes("[")) {
            require(depth <= MAX_DEPTH, "an array or object that is nested deeper than " + MAX_DEPTH);
            return isObject ? members(depth) : items(depth);
        }
        Matcher number = NUMBER.matcher(text).region(at, text.length());
        require(number.lookingAt(), "no JSON value");
        at = number.end();
        return new Num(number.group());
    }
    private List<Object> items(int depth) {
        List<Object> items = new ArrayList<>();
        while (!isClosed("]", items.isEmpty())) items.add(value(depth + 1));
        return items;
    }
    private Obj members(int depth) {
        Obj object = new Obj(text);
        while (!isClosed("}", object.isEmpty())) {
            require(takes("\""), "no name of a member");
            String name = string();
            require(!object.has(name), "a second member of one name");
            skip();
            require(takes(":"), "no colon");
            skip();
            int start = at;
            object.put(name, value(depth + 1));
            object.spans.put(name, new int[] {start, at});
        }
        return object;
    }
    private String string() {
        StringBuilder found = new StringBuilder();
        for (char c = next(); c != '"'; c = next()) {
            require(c >= 0x20, "a control character in a string");
            found.append(c == '\\' ? escaped() : c);
        }
        Bytes.utf8(found.toString());
        return found.toString();
    }
    private char escaped() {
        char c = next();
        if (c == 'u' && at + 4 <= text.length() && text.substring(at, at + 4).chars().allMatch(HexFormat::isHexDigit)) {
            at += 4;
            return (char) HexFormat.fromHexDigits(text, at - 4, at);
        }
        require(ESCAPES.indexOf(c) >= 0, "no escape");
        return ESCAPED.charAt(ESCAPES.indexOf(c));
    }
}
