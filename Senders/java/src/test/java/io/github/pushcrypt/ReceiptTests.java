package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;

import java.util.*;

/** Receipts as devices post them. */
final class ReceiptTests {
    static final String MESSAGE = "AAECAwQFBgcICQoLDA0ODw", NAME = Receipt.nameOf(MESSAGE);
    static final List<String> RIGHT = List.of(
            "{\"id\":\"" + NAME + "\",\"push\":\"p1\",\"outcome\":\"opened\",\"time\":5}",
            " \n{\"id\":\"" + NAME + "\",\"push\":\"" + NAME + "\",\"outcome\":\"opened\",\"time\":0,\"suppressed\":true,\"test\":true,\"other\":[1]}",
            "{\"id\":\"" + NAME + "-expired\",\"push\":\"p\",\"outcome\":\"expired\",\"time\":1800000000,\"kid\":\"jWNm9kJQc8Y\",\"skid\":\"QG8-uR3dGvs\"}",
            "{\"id\":\"" + MESSAGE + "\",\"outcome\":\"unknownKey\",\"time\":7,\"kid\":\"jWNm9kJQc8Y\"}",
            "{\"id\":\"" + MESSAGE + "\",\"outcome\":\"app.own-class_1\",\"time\":7}",
            "id=" + NAME + "&push=a+b%26%C3%A9&outcome=opened&time=12&test=true",
            "outcome=expired&time=0&id=" + NAME + "-expired&push=&other=1",
            "id=" + MESSAGE + "&outcome=keyLocked&time=9007199254740991&suppressed=true",
            "{\"id\":\"" + NAME + "\",\"push\":\"" + "p".repeat(256) + "\",\"outcome\":\"opened\",\"time\":5}",
            "id=" + NAME + "&push=%F0%9F%98%80é&outcome=opened&time=12");
    static final List<String> WRONG = List.of("", "{}", "[]", "x", "{\"id\":\"" + NAME + "\",\"outcome\":\"opened\",\"time\":5}",
            "{\"id\":\"" + NAME + "\",\"push\":\"p\",\"outcome\":\"opened\",\"time\":5.0}", "{\"id\":\"" + NAME + "\",\"push\":\"p\",\"outcome\":\"opened\",\"time\":\"5\"}",
            "{\"id\":\"" + NAME + "\",\"push\":\"p\",\"outcome\":\"opened\",\"time\":-1}", "{\"id\":\"" + NAME + "\",\"push\":\"p\",\"outcome\":\"opened\"}",
            "{\"id\":\"" + NAME + "\",\"push\":5,\"outcome\":\"opened\",\"time\":5}", "{\"id\":\"" + NAME + "\",\"push\":null,\"outcome\":\"opened\",\"time\":5}",
            "{\"id\":\"" + NAME + "-opened\",\"push\":\"p\",\"outcome\":\"opened\",\"time\":5}", "{\"id\":\"" + NAME + "-expired\",\"push\":\"p\",\"outcome\":\"replayed\",\"time\":5}",
            "{\"id\":\"" + NAME + "\",\"push\":\"p\",\"outcome\":\"expired\",\"time\":5}", "{\"id\":\"" + MESSAGE + "\",\"outcome\":\"opened\",\"time\":5}",
            "{\"id\":\"" + MESSAGE + "\",\"push\":\"p\",\"outcome\":\"expired\",\"time\":5}", "{\"id\":\"" + NAME + "\",\"push\":\"p\",\"outcome\":\"opened\",\"time\":5,\"kid\":\"jWNm9kJQc8Y\"}",
            "{\"id\":\"" + MESSAGE + "\",\"outcome\":\"expired\",\"time\":5,\"kid\":\"jWNm9kJQc8\"}", "{\"id\":\"" + MESSAGE + "\",\"outcome\":\"a b\",\"time\":5}",
            "{\"id\":\"" + MESSAGE + "\",\"outcome\":\"\",\"time\":5}", "{\"id\":\"" + NAME + "\",\"push\":\"p\",\"outcome\":\"opened\",\"time\":5,\"test\":false}",
            "{\"id\":\"" + NAME + "\",\"push\":\"p\",\"outcome\":\"opened\",\"time\":5,\"test\":\"true\"}", "{\"id\":\"" + NAME + "\",\"id\":\"" + NAME + "\",\"push\":\"p\",\"outcome\":\"opened\",\"time\":5}",
            "id=" + NAME + "&push=p&outcome=opened&time=05", "id=" + NAME + "&push=p&outcome=opened&time=+5", "id=" + NAME + "&push=p&outcome=opened&time=5&time=5",
            "id=" + NAME + "&push=p&outcome=opened&time=5&", "id=" + NAME + "&push=p=q&outcome=opened&time=5", "id=" + NAME + "&push=%zz&outcome=opened&time=5", "id=" + NAME + "&push=%C3&outcome=opened&time=5",
            "id=" + NAME + "&push=p&outcome=opened&time=5&=1", "id=" + NAME + "&push=p&outcome=opened&time=5&test=1", "id=" + NAME + "&push=p&outcome=opened&time=5&test=false", "id=" + NAME + "&push&outcome=opened&time=5",
            "{\"id\":\"" + NAME + "\",\"push\":\"" + "p".repeat(257) + "\",\"outcome\":\"opened\",\"time\":5}", "{\"id\":\"" + "A".repeat(42) + "B\",\"push\":\"p\",\"outcome\":\"opened\",\"time\":5}",
            "{\"id\":\"" + NAME + "\",\"push\":\"p\",\"outcome\":\"opened\",\"time\":5}" + " ".repeat(4_096));

    private ReceiptTests() {}

    static List<Object> values(Receipt receipt) {
        return Arrays.asList(receipt.id(), receipt.name(), receipt.pushId(), receipt.failure(), receipt.time(), receipt.kid(), receipt.skid(), receipt.isSuppressed(), receipt.isSelfTest());
    }

    static void run() throws Exception {
        for (String body : RIGHT) refused(body, null, () -> Receipt.fromBody(body));
        for (String body : WRONG) refused(body, "malformed", () -> Receipt.fromBody(body));
        equal("a form", "a b&é", Receipt.fromBody(RIGHT.get(5)).pushId());
        equal("values", Arrays.asList(NAME + "-expired", NAME, "p", "expired", AT, "jWNm9kJQc8Y", "QG8-uR3dGvs", false, false), values(Receipt.fromBody(RIGHT.get(2))));
        refused("the name of no id", "malformed", () -> Receipt.nameOf("AA"));
    }
}
