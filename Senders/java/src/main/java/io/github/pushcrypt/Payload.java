package io.github.pushcrypt;

import io.github.pushcrypt.Json.Obj;
import io.github.pushcrypt.PushCryptException.Flaw;
import java.util.*;

/** An inner payload: strict JSON with a text for the user (PROTOCOL sections 2 and 5). */
record Payload(Obj root, Obj aps) {
    static final int MAX_SIZE = 262_144;
    private static final int MAX_VALUES = 16_384;
    /** The ranges of "Visible text" (section 2), without the last two code points of each plane. */
    private static final int[] INVISIBLE = {
        0x0000, 0x0020, 0x007F, 0x00A0, 0x00AD, 0x00AD, 0x034F, 0x034F, 0x061C, 0x061C, 0x115F, 0x1160, 0x1680, 0x1680, 0x17B4, 0x17B5, 0x180B, 0x180F,
        0x2000, 0x200F, 0x2028, 0x202F, 0x205F, 0x206F, 0x2800, 0x2800, 0x3000, 0x3000, 0x3164, 0x3164, 0xFDD0, 0xFDEF, 0xFE00, 0xFE0F, 0xFEFF, 0xFEFF,
        0xFFA0, 0xFFA0, 0xFFF0, 0xFFFC, 0x13430, 0x1343F, 0x16FE4, 0x16FE4, 0x1BCA0, 0x1BCA3, 0x1D159, 0x1D159, 0x1D173, 0x1D17A, 0xE0000, 0xE0FFF};
    static boolean isVisible(Object text) { return text instanceof String string && string.codePoints().anyMatch(Payload::isVisible); }
    private static boolean isVisible(int point) {
        for (int at = 0; at < INVISIBLE.length; at += 2) {
            if (INVISIBLE[at] <= point && point <= INVISIBLE[at + 1]) return false;
        }
        return (point & 0xFFFE) != 0xFFFE;
    }
    /** Whether an alert is a visible string, or an object with a visible text or key of a text. */
    static boolean hasText(Object alert) {
        return isVisible(alert) || alert instanceof Map<?, ?> members
                && List.of("title", "subtitle", "body", "loc-key", "title-loc-key").stream().anyMatch(name -> isVisible(members.get(name)));
    }
    /** Reads a payload to seal. Spaces behind it don't count. Throws {@link Flaw}. */
    static Payload read(byte[] json) {
        int end = json.length;
        while (end > 0 && json[end - 1] == ' ') end--;
        if (end > MAX_SIZE) throw new Flaw("it has more than 262,144 bytes");
        Obj root = Json.parse(Arrays.copyOf(json, end)), aps = Json.object(root.get("aps"), "aps");
        if (count(root) > MAX_VALUES) throw new Flaw("it has more than 16,384 JSON values");
        if (!hasText(aps.get("alert"))) throw new Flaw("its aps has no alert with a text that a person can see");
        if (root.has("pushcrypt")) throw new Flaw("it already has a pushcrypt member");
        boolean isActivity = List.of("content-state", "attributes", "attributes-type").stream().anyMatch(name -> aps.get(name) != null)
                || List.of("start", "update", "end").contains(String.valueOf(aps.get("event")));
        if (isActivity) throw new Flaw("it is that of a Live Activity, for which iOS runs no extension: send it without private content");
        return new Payload(root, aps);
    }
    private static int count(Object value) {
        Collection<?> children = value instanceof Obj object ? object.values() : value instanceof List<?> items ? items : List.of();
        return 1 + children.stream().mapToInt(Payload::count).sum();
    }
    /** The message: the header is the last member of the root, and no other byte changes. */
    byte[] withHeader(String header) {
        int end = root.spans.values().stream().mapToInt(span -> span[1]).max().orElseThrow();
        return Bytes.utf8(root.text.substring(0, end) + ",\"pushcrypt\":" + header + root.text.substring(end));
    }
}
