package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;
import static io.github.pushcrypt.SealingTests.*;

import io.github.pushcrypt.Json.Obj;
import java.util.*;
import java.util.regex.Pattern;

/** Payloads that don't fit. */
final class OversizeTests {
    private OversizeTests() {}

    private static String openedBody(SealedPush push) throws Exception {
        Obj alert = (Obj) ((Obj) Json.parse(opened(push.json(), named("p256"), null).getBytes("UTF-8")).get("aps")).get("alert");
        return alert.string("body");
    }

    static void run() throws Exception {
        Recipient to = recipient("p256");
        SealOptions shorten = SealOptions.DEFAULT.oversize(OversizePlan.shortenBody(80));
        List<String> units = List.of("x", "é", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "e\u0301", "\u0600x", "\"", "\\", "\n", "1️⃣");
        for (String unit : units) {
            String body = unit.repeat(4_000 / unit.length());
            SealedPush push = sealer(false).seal(Json.write(Map.of("aps", Map.of("alert", Map.of("title", "t", "body", body)))), to, PLACEHOLDER, shorten.padding(1));
            String found = openedBody(push);
            check(unit + " is shortened", push.isBodyShortened() && !push.isOffloaded() && found.endsWith("…"));
            String kept = found.substring(0, found.length() - 1);
            check(unit + " stays whole", body.startsWith(kept) && kept.length() % unit.length() == 0 && kept.length() > 80);
            int written = Json.write(unit).getBytes("UTF-8").length - 2;
            check(unit + " fills the push: " + push.json().length(), push.json().length() > 4_096 - 4 * written / 3 - 8);
            equal(unit + " and the ellipsis are apart", Pattern.compile("\\X").matcher(kept).results().count() + 1, Pattern.compile("\\X").matcher(found).results().count());
        }
        String joining = openedBody(sealer(false).seal(Json.write(Map.of("aps", Map.of("alert", Map.of("body", "\u0600\n".repeat(3_000))))), to, PLACEHOLDER, shorten.padding(1)));
        check("no character joins the ellipsis", joining.endsWith("\n…"));
        refused("one character", "tooLarge", () -> sealer(false).seal(Json.write(Map.of("aps", Map.of("alert", Map.of("body", "\u0600".repeat(3_000))))), to, PLACEHOLDER, shorten));
        String text = "{\"aps\":{\"alert\":\"" + "y".repeat(4_000) + "\"},\"z\" : 1 }";
        SealedPush push = sealer(false).seal(text, to, PLACEHOLDER, shorten);
        check("an alert that is a string, and no other byte", opened(push.json(), named("p256"), null).matches("\\{\"aps\":\\{\"alert\":\"y{2000,}…\"\\},\"z\" : 1,\"pushcrypt\":\\{[^}]*\\} \\}"));
        refused("too short", "tooLarge", () -> sealer(false).seal(text, to, PLACEHOLDER, shorten.oversize(OversizePlan.shortenBody(3_900))));
        refused("no body", "tooLarge", () -> sealer(false).seal("{\"aps\":{\"alert\":{\"title\":\"" + "y".repeat(4_000) + "\"}}}", to, PLACEHOLDER, shorten));
        refused("another member is long", "tooLarge", () -> sealer(false).seal("{\"aps\":{\"alert\":\"x\"},\"y\":\"" + "y".repeat(4_000) + "\"}", to, PLACEHOLDER, shorten));
        SealedPush fits = sealer(false).seal(body(100), to, PLACEHOLDER, shorten);
        check("a payload that fits", !fits.isBodyShortened() && openedBody(fits).length() == 100);

        List<SealedBlob> stored = new ArrayList<>();
        OversizePlan plan = OversizePlan.shortenBodyOrOffload(3_000, blob -> {
            stored.add(blob);
            return "https://files.example.com/p";
        });
        SealedPush offloaded = sealer(true).seal(body(9_000), to, PLACEHOLDER, SealOptions.DEFAULT.oversize(plan).campaign("c"));
        check("it is offloaded", offloaded.isOffloaded() && offloaded.isBodyShortened() && stored.size() == 1);
        Obj message = Json.parse(opened(offloaded.json(), named("p256"), named("sender")).getBytes("UTF-8"));
        check("custom members are only in the blob", message.size() == 2 && message.has("aps"));
        Obj reference = (Obj) ((Obj) message.get("pushcrypt")).get("offload");
        equal("its address", "https://files.example.com/p", reference.get("url"));
        equal("its digest", Bytes.base64(Bytes.sha256(stored.get(0).bytes())), reference.get("sha256"));
        equal("its size", 12_288, reference.get("size"));
        equal("the id of the campaign", to.messageId("c"), offloaded.id());
        refused("quiet", "invalidOption", () -> sealer(true).seal(body(9_000), to, PLACEHOLDER, SealOptions.DEFAULT.oversize(plan).quiet()));
        equal("nothing is stored for a push that is refused anyway", 1, stored.size());
        refused("an address that isn't one", "invalidOption", () -> sealer(true).seal(body(9_000), to, PLACEHOLDER,
                SealOptions.DEFAULT.oversize(OversizePlan.shortenBodyOrOffload(1_000_000, blob -> "http://a"))));
        refused("offloaded already", "tooLarge", () -> sealer(true).seal(body(9_000), to, PLACEHOLDER, SealOptions.DEFAULT
                .oversize(OversizePlan.shortenBodyOrOffload(1_000_000, blob -> "https://a")).offloading(SealedBlob.ofPayload(PLAIN).offload("https://a.b"))));
        SealedPush shorter = sealer(true).seal(body(3_200), to, PLACEHOLDER, SealOptions.DEFAULT.oversize(OversizePlan.shortenBodyOrOffload(80, blob -> null)));
        check("shortening is enough", shorter.isBodyShortened() && !shorter.isOffloaded());
    }
}
