package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;

import java.util.*;

/** Strict JSON and base64url. */
final class JsonTests {
    private JsonTests() {}

    private static boolean isRefused(byte[] text) {
        try {
            Json.parse(text);
            return false;
        } catch (Flaw e) {
            return true;
        }
    }

    static void run() throws Exception {
        for (String text : List.of("{}", " { } ", "{\"a\":[]}", "{\"a\":[1,-0.5e+3,true,false,null,\"\"]}\n\t\r ", "{\"\":{\"\":0}}", "{\"a\":\"\\u00e9\\ud83d\\ude00\\/\\b\"}",
                "{\"a\":1,\"A\":2}", "{\"a\":-0}", "{\"a\":1E5}", "{\"a\" : [ 1 , 2 ] , \"b\":{ } }", "{\"a\":\"\u2028\u007f\"}")) {
            check(text, !isRefused(text.getBytes("UTF-8")));
        }
        for (String text : List.of("", " ", "[]", "1", "\"a\"", "null", "{", "}", "{}{}", "{}x", "\ufeff{}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{\"a\":1 \"b\":2}",
                "{\"a\":[1,]}", "{\"a\":[,]}", "{\"a\":[1 2]}", "{\"a\":01}", "{\"a\":+1}", "{\"a\":.5}", "{\"a\":1.}", "{\"a\":1e}", "{\"a\":-}", "{\"a\":NaN}", "{\"a\":Infinity}",
                "{\"a\":True}", "{\"a\":nul}", "{a:1}", "{'a':1}", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u00g0\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\\uff115555\"}",
                "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\\ud800\"}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "{\"b\":[{\"a\":1,\"a\":1}]}", "{\"a\":\"", "{\"a\":1}\u00a0", "{\"a\":\u000b1}",
                "{\"a\":1}\0", "{\"a\":/**/1}", "{\"a\":0x10}", "{\"\\ud800\":1}")) {
            check("refused: " + text, isRefused(text.getBytes("UTF-8")));
        }
        for (byte[] bytes : new byte[][] {{'{', '"', (byte) 0xFF, '"', ':', '1', '}'}, {'{', '"', (byte) 0xC0, (byte) 0x80, '"', ':', '1', '}'},
            {'{', '"', (byte) 0xED, (byte) 0xA0, (byte) 0x80, '"', ':', '1', '}'}, {'{', '}', (byte) 0xC3}}) {
            check("refused bytes", isRefused(bytes));
        }
        check("64 levels", !isRefused(("{\"a\":" + "[".repeat(63) + "]".repeat(63) + "}").getBytes()));
        check("65 levels", isRefused(("{\"a\":" + "[".repeat(64) + "]".repeat(64) + "}").getBytes()));
        check("100,000 levels", isRefused(("{\"a\":" + "[".repeat(100_000)).getBytes()));
        Json.Obj object = Json.parse("{ \"a\" : [ 1 ] , \"b\":1.50e0,\"c\":-0 , \"d\":9007199254740991,\"e\":9007199254740992,\"f\":true,\"g\":1.0,\"h\":12345678901234567 }".getBytes());
        equal("raw", "[ 1 ]", object.raw("a"));
        equal("a number's text", "1.50e0", object.get("b").toString());
        for (String name : List.of("b", "c", "f", "g", "h")) check(name, !Json.isInteger(object.get(name), Long.MIN_VALUE, Long.MAX_VALUE));
        check("2^53 - 1", Json.isInteger(object.get("d"), 0, Json.MAX_INTEGER) && !Json.isInteger(object.get("e"), 0, Json.MAX_INTEGER));
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("a", Arrays.asList(1, 2L, -1.5, null, true, "\"\\\n\u0001é😀\u007f", List.of(), Map.of()));
        equal("written", "{\"a\":[1,2,-1.5,null,true,\"\\\"\\\\\\n\\u0001é😀\u007f\",[],{}]}", Json.write(value));
        for (Object wrong : new Object[] {Double.NaN, Double.POSITIVE_INFINITY, new byte[1], 'c', Map.of(1, 2), "\ud800", List.of("a\udc00"), new Object()}) {
            refused("written: " + wrong, "malformed", () -> Json.write(wrong));
        }
        Number fraction = new Number() {
            private static final long serialVersionUID = 1;
            @Override public int intValue() { return 0; }
            @Override public long longValue() { return 0; }
            @Override public float floatValue() { return 0.5f; }
            @Override public double doubleValue() { return 0.5; }
            @Override public String toString() { return "1/2"; }
        };
        refused("a number whose text isn't JSON", "malformed", () -> Json.write(List.of(fraction)));
        check("3 MB of base64url", Bytes.base64("AAAA".repeat(1_000_000), 3_000_000, "it").length == 3_000_000);
        List<Object> cycle = new ArrayList<>();
        cycle.add(cycle);
        refused("a cycle", "malformed", () -> Json.write(cycle));
        for (String text : List.of("AA", "AAA", "AAAA", "-_8", "_w")) check(text, Bytes.base64(text, 0, "it").length > 0);
        for (Object text : new Object[] {"", "A", "AB", "AA==", "AA=", "A A", "AA\n", "+/8", "AAAAA", "ÿÿ", 1, null, "AAB"}) {
            refused("base64 " + text, "x", () -> Flaw.coded("x", "", () -> Bytes.base64(text, 0, "it")));
        }
    }
}
