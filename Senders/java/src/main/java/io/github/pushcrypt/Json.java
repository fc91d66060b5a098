package io.github.pushcrypt;

import static java.util.stream.Collectors.joining;

import io.github.pushcrypt.PushCryptException.Flaw;
import java.nio.ByteBuffer;
import java.nio.charset.*;
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
    /**
     * Writes compact JSON of maps with string keys, iterables, strings, finite numbers, booleans and null, for a payload or a request.
     * Characters beyond ASCII stay. Throws {@link PushCryptException} with {@code malformed} for what JSON can't represent.
     */
    public static String write(Object value) { return PushCryptException.reading("malformed", "the value", () -> write(value, 0)); }
    private static String write(Object value, int depth) {
        if (depth > MAX_DEPTH) throw new Flaw("arrays and objects are nested too deep");
        if (value instanceof String string) return quoted(string);
        if (value instanceof Map<?, ?> members) {
            if (!members.keySet().stream().allMatch(String.class::isInstance)) throw new Flaw("a member's name isn't a string");
            return members.entrySet().stream().map(member -> quoted((String) member.getKey()) + ":" + write(member.getValue(), depth + 1))
                    .collect(joining(",", "{", "}"));
        }
        if (value instanceof Iterable<?> items) {
            return StreamSupport.stream(items.spliterator(), false).map(item -> write(item, depth + 1)).collect(joining(",", "[", "]"));
        }
        boolean isNumber = value instanceof Num || value instanceof Number number && Double.isFinite(number.doubleValue());
        if (isNumber || value == null || value instanceof Boolean) return String.valueOf(value);
        throw new Flaw("JSON can't represent a " + value.getClass().getSimpleName() + " with this value");
    }
    private static String quoted(String string) {
        Bytes.utf8(string);
        return string.chars().mapToObj(c -> ESCAPED.indexOf(c) >= 0 && c != '/' ? "\\" + ESCAPES.charAt(ESCAPED.indexOf(c))
                : c < 0x20 ? "\\u" + HexFormat.of().toHexDigits((char) c) : Character.toString(c)).collect(joining("", "\"", "\""));
    }
    record Num(String text) {
        long integer() { return Long.parseLong(text); }
        @Override public String toString() { return text; }
    }
    /** Whether it is a number without fraction and exponent, not -0, and in the range. */
    static boolean isInteger(Object value, long lowest, long highest) {
        return value instanceof Num num && INTEGER.matcher(num.text).matches() && lowest <= num.integer() && num.integer() <= highest;
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
        /** None if there is no such member. */
        Obj members(String name) { return has(name) ? object(get(name), name) : new Obj(text); }
        byte[] bytes(String name, int size) { return Bytes.base64(get(name), size, name); }
        String string(String name) {
            if (get(name) instanceof String value) return value;
            throw new Flaw(name + " isn't a string");
        }
        long integer(String name, long lowest, long highest) {
            if (isInteger(get(name), lowest, highest)) return ((Num) get(name)).integer();
            throw new Flaw(name + " isn't an integer of " + lowest + " to " + highest);
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
    static Obj parse(byte[] utf8) { return parse(utf8, false); }
    /** The root, which must be an object. If {@code isCompact}, there must be no white space outside of strings. */
    static Obj parse(byte[] utf8, boolean isCompact) {
        try {
            Json json = new Json(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString(), isCompact);
            json.skip();
            Obj root = object(json.value(1), "the root");
            json.skip();
            if (json.at != json.text.length()) throw json.flaw("more than white space after the object");
            return root;
        } catch (CharacterCodingException e) {
            throw new Flaw("it isn't UTF-8");
        }
    }
    static Map<String, Object> map(Object... members) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int at = 0; at < members.length; at += 2) map.put((String) members[at], members[at + 1]);
        return map;
    }
    private Flaw flaw(String what) { return new Flaw("there is " + what + " at character " + at); }
    private char next() {
        if (at >= text.length()) throw flaw("no more text");
        return text.charAt(at++);
    }
    private boolean takes(String token) {
        boolean takes = text.startsWith(token, at);
        at += takes ? token.length() : 0;
        return takes;
    }
    private void skip() {
        for (; at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0; at++) if (isCompact) throw flaw("white space");
    }
    /** Moves past the closing bracket, or to the next element. */
    private boolean isClosed(String closing, boolean isFirst) {
        skip();
        if (takes(closing)) return true;
        if (!isFirst && !takes(",")) throw flaw("neither a comma nor a closing bracket");
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
            if (depth > MAX_DEPTH) throw flaw("an array or object that is nested deeper than " + MAX_DEPTH);
            return isObject ? members(depth) : items(depth);
        }
        Matcher number = NUMBER.matcher(text).region(at, text.length());
        if (!number.lookingAt()) throw flaw("no JSON value");
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
            if (!takes("\"")) throw flaw("no name of a member");
            String name = string();
            if (object.has(name)) throw flaw("a second member of one name");
            skip();
            if (!takes(":")) throw flaw("no colon");
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
            if (c < 0x20) throw flaw("a control character in a string");
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
        if (ESCAPES.indexOf(c) < 0) throw flaw("no escape");
        return ESCAPED.charAt(ESCAPES.indexOf(c));
    }
}
