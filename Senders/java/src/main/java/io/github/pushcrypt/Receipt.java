package io.github.pushcrypt;

import io.github.pushcrypt.PushCryptException.Flaw;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.*;
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
        byte[] id = PushCryptException.reading("malformed", "the id", () -> Bytes.base64(messageId, Sealer.ID_SIZE, "it"));
        return Bytes.base64(Bytes.sha256(Envelope.label(" receipt"), id));
    }
    /** Reads the body of a request: JSON, or a form. Throws {@link PushCryptException}: {@code malformed}. */
    public static Receipt fromBody(String body) {
        return PushCryptException.reading("malformed", "the receipt", () -> {
            byte[] text = Bytes.utf8(body);
            if (text.length > Registration.MAX_SIZE) throw new Flaw("it has more than 4,096 bytes");
            if (body.matches("(?s)[ \t\r\n]*\\{.*")) return read(Json.parse(text), true);
            Map<String, Object> form = form(body);
            if (form.get("time") instanceof String time && time.matches("0|[1-9][0-9]{0,15}")) form.put("time", new Json.Num(time));
            return read(form, "true");
        });
    }
    private static Receipt read(Map<String, Object> members, Object yes) {
        String id = text(members, "id"), outcome = text(members, "outcome"), pushId = text(members, "push");
        if (id == null || outcome == null || !outcome.matches("[A-Za-z0-9._-]{1,64}")) throw new Flaw("id or outcome is missing, or outcome is no class");
        String failure = outcome.equals("opened") ? null : outcome, name = name(id, failure), kid = text(members, "kid"), skid = text(members, "skid");
        boolean isPush = pushId == null ? name == null : name != null && Bytes.utf8(pushId).length <= 256;
        if (!isPush) throw new Flaw("push is missing, too long, or present for a push that couldn't be opened");
        if (!Json.isInteger(members.get("time"), 0, Json.MAX_INTEGER)) throw new Flaw("time is no number of seconds");
        if (kid != null) Bytes.base64(kid, 8, "kid");
        if (skid != null) Bytes.base64(skid, 8, "skid");
        boolean isKeyNamed = failure == null && (kid != null || skid != null);
        if (isKeyNamed || !isTrue(members, "suppressed", yes) || !isTrue(members, "test", yes)) throw new Flaw("a flag isn't true, or a restored push has a key");
        long time = ((Json.Num) members.get("time")).integer();
        return new Receipt(id, name, pushId, failure, time, kid, skid, members.containsKey("suppressed"), members.containsKey("test"));
    }
    private static boolean isTrue(Map<String, Object> members, String flag, Object yes) { return yes.equals(members.getOrDefault(flag, yes)); }
    private static String text(Map<String, Object> members, String name) {
        if (members.containsKey(name) && !(members.get(name) instanceof String)) throw new Flaw(name + " isn't a string");
        return (String) members.get(name);
    }
    /** ID = name | name "-" CLASS | base64url(16 random bytes) */
    private static String name(String id, String failure) {
        boolean isRandom = failure != null && id.length() == 22;
        String name = id.substring(0, Math.min(43, id.length()));
        Bytes.base64(name, isRandom ? 16 : 32, "id");
        if (isRandom || id.equals(failure == null ? name : name + "-" + failure)) return isRandom ? null : name;
        throw new Flaw("id is neither a message's name with the class of the outcome nor random");
    }
    /** Each field once, in UTF-8 (URL Standard, section 5). */
    private static Map<String, Object> form(String body) {
        Map<String, Object> fields = new HashMap<>();
        for (String field : body.split("&", -1)) {
            String[] parts = field.split("=", -1);
            boolean isEscaped = !field.replaceAll("%[0-9A-Fa-f]{2}", "").contains("%");
            if (parts.length != 2 || parts[0].isEmpty() || !isEscaped) throw new Flaw("it is not a form");
            if (fields.put(unescaped(parts[0]), unescaped(parts[1])) != null) throw new Flaw("a field is there twice");
        }
        return fields;
    }
    /** Through Latin-1, because URLDecoder would replace what isn't UTF-8. */
    private static String unescaped(String field) {
        Charset latin1 = StandardCharsets.ISO_8859_1;
        try {
            byte[] bytes = URLDecoder.decode(new String(Bytes.utf8(field), latin1), latin1).getBytes(latin1);
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw new Flaw("it is not UTF-8");
        }
    }
}
