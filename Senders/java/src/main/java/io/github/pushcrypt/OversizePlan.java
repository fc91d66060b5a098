package io.github.pushcrypt;

import io.github.pushcrypt.Json.Obj;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.*;

/** What a sealer does with a payload that doesn't fit into a push. */
public final class OversizePlan {
    /** Refuses it with {@code tooLarge}. */
    public static final OversizePlan REFUSE = new OversizePlan(Integer.MAX_VALUE, null);
    /** A grapheme cluster. BreakIterator of Java 17 would cut an emoji of several code points. */
    private static final Pattern CHARACTER = Pattern.compile("\\X");
    private final int minimum;
    private final Function<SealedBlob, String> store;
    private OversizePlan(int minimum, Function<SealedBlob, String> store) {
        this.minimum = Math.max(minimum, 1);
        this.store = store;
    }
    /** Shortens the body at the end of a character as the user sees it, to {@code minimum} characters or more, and appends "…". */
    public static OversizePlan shortenBody(int minimum) { return new OversizePlan(minimum, null); }
    /** Shortens the body, or else seals the payload as a blob. {@code store} keeps it to upload before the push, and returns its https address. */
    public static OversizePlan shortenBodyOrOffload(int minimum, Function<SealedBlob, String> store) { return new OversizePlan(minimum, store); }
    /** The push of a payload that is {@code excess} bytes shorter; none if the plan doesn't allow it. */
    Optional<SealedPush> smaller(Sealer.Sealing sealing, Payload inner, int excess, boolean isOffloaded) {
        Optional<Payload> shorter = shortened(inner, excess);
        if (shorter.isPresent() || store == null || sealing.options().offload != null) {
            return shorter.map(payload -> sealing.push(payload, REFUSE, true, isOffloaded));
        }
        SealedBlob blob = SealedBlob.ofPayload(inner.root().text);
        Function<String, SealedPush> at = url -> sealing.with(sealing.options().offloading(blob.offload(url)))
                // The blob has the whole body, so the push needs one character of it.
                .push(Payload.read("{\"aps\":" + inner.root().raw("aps") + "}"), shortenBody(1), false, true);
        // Refuses what would be refused at every address, before anything is stored.
        at.apply("https://a");
        return Optional.of(at.apply(store.apply(blob)));
    }
    private Optional<Payload> shortened(Payload payload, int excess) {
        boolean isText = payload.aps().get("alert") instanceof String;
        Obj owner = isText ? payload.aps() : (Obj) payload.aps().get("alert");
        String name = isText ? "alert" : "body";
        if (!(owner.get(name) instanceof String body)) return Optional.empty();
        Matcher characters = CHARACTER.matcher(body);
        int room = Bytes.utf8(owner.raw(name)).length - excess - Bytes.utf8("\"…\"").length, end = 0, count = 0;
        while (characters.find() && (room -= Bytes.utf8(Json.write(characters.group())).length - 2) >= 0) {
            end = characters.end();
            count++;
        }
        // Some characters, such as U+0600, form a cluster with the next.
        while (end > 0 && count(body.substring(0, end) + "…") != count + 1) {
            end = body.offsetByCodePoints(end, -1);
            count = count(body.substring(0, end));
        }
        if (count < minimum || end == body.length()) return Optional.empty();
        int[] span = owner.spans.get(name);
        return Optional.of(Payload.read(owner.text.substring(0, span[0]) + Json.write(body.substring(0, end) + "…") + owner.text.substring(span[1])));
    }
    private static int count(String text) { return (int) CHARACTER.matcher(text).results().count(); }
}
