package io.github.pushcrypt;

import io.github.pushcrypt.Json.Obj;
import io.github.pushcrypt.OversizePlan.*;
import java.util.Optional;
import java.util.regex.Pattern;

/** What an {@link OversizePlan} makes of a payload that doesn't fit. */
final class SmallerPush {
    /** The push of a smaller payload; none if the plan doesn't allow it. */
    static Optional<SealedPush> of(Sealer.Sealing sealing, Payload inner, OversizePlan plan, int excess, boolean isOffloaded) {
        Optional<Payload> shorter = shortened(plan, inner, excess);
        if (shorter.isPresent() || sealing.options().offload != null || !(plan instanceof ShortenBodyOrOffload offloading)) {
            return shorter.map(payload -> sealing.push(payload, new Refuse(), true, isOffloaded));
        }
        SealedBlob blob = SealedBlob.ofPayload(inner.root().text);
        Sealer.Sealing changed = sealing.with(sealing.options().offloading(blob.offload(offloading.store().apply(blob))));
        // The blob has the whole body, so the push needs one character of it.
        Payload alone = Payload.read(Bytes.utf8("{\"aps\":" + inner.root().raw("aps") + "}"));
        return Optional.of(changed.push(alone, new ShortenBody(1), false, true));
    }
    /** The payload with a body that makes it {@code excess} bytes shorter; none if the plan doesn't allow it. */
    private static Optional<Payload> shortened(OversizePlan plan, Payload payload, int excess) {
        int minimum = plan instanceof ShortenBody one ? one.minimum() : plan instanceof ShortenBodyOrOffload one ? one.minimum() : Integer.MAX_VALUE;
        boolean isText = payload.aps().get("alert") instanceof String;
        Obj owner = isText ? payload.aps() : (Obj) payload.aps().get("alert");
        String name = isText ? "alert" : "body";
        if (!(owner.get(name) instanceof String body)) return Optional.empty();
        // \X is a grapheme cluster. BreakIterator of Java 17 would cut an emoji of several code points.
        var clusters = Pattern.compile("\\X").matcher(body);
        int room = Bytes.utf8(owner.raw(name)).length - excess - Bytes.utf8("\"…\"").length, end = 0, count = 0;
        while (clusters.find() && (room -= Bytes.utf8(Json.write(clusters.group())).length - 2) >= 0) {
            end = clusters.end();
            count++;
        }
        // Some characters, such as U+0600, form a cluster with the next.
        for (; end > 0 && count(body.substring(0, end) + "…") != count + 1; count = count(body.substring(0, end))) end = body.offsetByCodePoints(end, -1);
        if (count < Math.max(minimum, 1) || end == body.length()) return Optional.empty();
        int[] span = owner.spans.get(name);
        String text = owner.text.substring(0, span[0]) + Json.write(body.substring(0, end) + "…") + owner.text.substring(span[1]);
        return Optional.of(Payload.read(Bytes.utf8(text)));
    }
    private static int count(String text) { return (int) Pattern.compile("\\X").matcher(text).results().count(); }
}
