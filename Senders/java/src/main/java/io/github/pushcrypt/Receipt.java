package io.github.pushcrypt;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.net.URLDecoder;
import java.util.*;

/**
 * What became of one push (PROTOCOL section 12). Anyone can post a receipt: use them as a statistic. {@code id} is the same each time it is
 * sent. {@code name} is {@link #nameOf} the push, and {@code pushId} its own or the name; both are null if it couldn't be opened. {@code
 * failure} is null if it was restored completely. {@code time} is in Unix seconds. Nothing proves the keys {@code kid} and {@code skid}.
 */
public record Receipt(String id, String name, String pushId, String failure, long time, String kid, String skid, boolean isSuppressed,
        boolean isSelfTest) {
    /** The name of a push in receipts, of its id. A server that sees receipts can't retract messages with it. */
    public static String nameOf(String messageId) {
        byte[] id = Flaw.coded("malformed", "the id", () -> Bytes.base64(messageId, Sealer.ID_SIZE, "it"));
        return Bytes.base64(Bytes.sha256(Envelope.label(" receipt"), id));
    }
    /** Reads the body of a request: JSON, or a form. Throws {@link PushCryptException}: {@code malformed}. */
    public static Receipt fromBody(String body) {
        return Flaw.coded("malformed", "the receipt", () -> {
            Flaw.unless(Bytes.utf8(body).length <= Registration.MAX_SIZE, "it has more than 4,096 bytes");
            if (body.matches("(?s)[ \t\r\n]*\\{.*")) return read(Json.parse(body), true);
            Map<String, Object> form = form(body);
            if (form.get("time") instanceof String time) form.put("time", new Json.Num(time));
            return read(form, "true");
        });
    }
    private static Receipt read(Map<String, Object> members, Object yes) {
        String id = text(members, "id"), outcome = text(members, "outcome"), pushId = text(members, "push");
        Flaw.unless(id != null && outcome != null && outcome.matches("[A-Za-z0-9._-]{1,64}"), "id or outcome is missing, or outcome is no class");
        String failure = outcome.equals("opened") ? null : outcome, name = name(id, failure);
        String kid = text(members, "kid"), skid = text(members, "skid");
        boolean isPush = pushId == null ? name == null : name != null && Bytes.utf8(pushId).length <= 256;
        Flaw.unless(isPush, "push is missing, too long, or present for a push that couldn't be opened");
        Flaw.unless(Json.isInteger(members.get("time"), 0, Json.MAX_INTEGER), "time is no number of seconds");
        if (kid != null) Bytes.base64(kid, 8, "kid");
        if (skid != null) Bytes.base64(skid, 8, "skid");
        Flaw.unless(failure != null || kid == null && skid == null, "a restored push has a key");
        long time = ((Json.Num) members.get("time")).integer();
        return new Receipt(id, name, pushId, failure, time, kid, skid, flag(members, "suppressed", yes), flag(members, "test", yes));
    }
    private static boolean flag(Map<String, Object> members, String name, Object yes) {
        Flaw.unless(yes.equals(members.getOrDefault(name, yes)), name + " isn't true");
        return members.containsKey(name);
    }
    private static String text(Map<String, Object> members, String name) {
        Flaw.unless(!members.containsKey(name) || members.get(name) instanceof String, name + " isn't a string");
        return (String) members.get(name);
    }
    /** ID = name | name "-" CLASS | base64url(16 random bytes) */
    private static String name(String id, String failure) {
        boolean isRandom = failure != null && id.length() == 22;
        String name = id.substring(0, Math.min(43, id.length()));
        Bytes.base64(name, isRandom ? 16 : 32, "id");
        boolean isRight = isRandom || id.equals(failure == null ? name : name + "-" + failure);
        Flaw.unless(isRight, "id is neither a message's name with the class of the outcome nor random");
        return isRandom ? null : name;
    }
    /** Each field once, in UTF-8 (URL Standard, section 5). */
    private static Map<String, Object> form(String body) {
        Map<String, Object> fields = new HashMap<>();
        for (String field : body.split("&", -1)) {
            String[] parts = field.split("=", -1);
            Flaw.unless(parts.length == 2 && !parts[0].isEmpty() && !field.replaceAll("%[0-9A-Fa-f]{2}", "").contains("%"), "it is not a form");
            Flaw.unless(fields.put(unescaped(parts[0]), unescaped(parts[1])) == null, "a field is there twice");
        }
        return fields;
    }
    /** Through Latin-1, because URLDecoder would replace what isn't UTF-8. */
    private static String unescaped(String field) {
        return Bytes.text(URLDecoder.decode(new String(Bytes.utf8(field), ISO_8859_1), ISO_8859_1).getBytes(ISO_8859_1));
    }
}
