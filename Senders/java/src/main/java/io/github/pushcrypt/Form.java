package io.github.pushcrypt;

import java.util.*;
import java.util.regex.Pattern;

/** The form of a JSON value in a grammar. A {@link Flaw} in place of false says more. */
@FunctionalInterface
interface Form {
    Form TRUE = Boolean.TRUE::equals, ARRAY = List.class::isInstance, OBJECT = Json.Obj.class::isInstance, ANY = value -> true;
    Form TIME = value -> Keyset.seconds(value, "a time") > Long.MIN_VALUE;
    Form TEXT = value -> value instanceof String text && !text.isEmpty() && Bytes.utf8(text).length <= 256
            && text.chars().noneMatch(Character::isISOControl);
    Form NAME = matching("[A-Za-z0-9._-]{1,64}");
    boolean fits(Object value);
    /** An object with these members and no others: names and forms in turn. A name with "?" before it is that of an optional member. */
    static Form object(Object... members) {
        Map<String, Object> forms = Json.map(members);
        return value -> {
            Json.Obj object = Json.object(value, "a value");
            Flaw.unless(forms.keySet().stream().allMatch(name -> name.startsWith("?") || object.has(name)), "a member is missing");
            object.forEach((name, member) -> {
                Form form = (Form) forms.getOrDefault(name, forms.get("?" + name));
                Flaw.unless(form != null && form.fits(member), form == null ? "there is an unknown member" : name + " has another form or range");
            });
            return true;
        };
    }
    static Form map(Form name, Form member, int fewest) {
        return value -> value instanceof Json.Obj object && object.size() >= fewest
                && object.entrySet().stream().allMatch(one -> name.fits(one.getKey()) && member.fits(one.getValue()));
    }
    /** An array; {@code isDistinct} if no element is there twice. */
    static Form list(Form item, int fewest, int most, boolean isDistinct) {
        return value -> value instanceof List<?> items && fewest <= items.size() && items.size() <= most && items.stream().allMatch(item::fits)
                && (!isDistinct || new HashSet<>(items).size() == items.size());
    }
    /** base64url of a number of bytes. */
    static Form sized(int fewest, int most) {
        return value -> {
            int size = Bytes.base64(value, 0, "a value").length;
            return fewest <= size && size <= most;
        };
    }
    static Form base64(int size) { return sized(size, size); }
    static Form integer(long lowest, long highest) { return value -> Json.isInteger(value, lowest, highest); }
    static Form oneOf(String... texts) { return value -> Arrays.asList(texts).contains(value); }
    static Form orNull(Form form) { return value -> value == null || form.fits(value); }
    static Form matching(String grammar) { return value -> value instanceof String text && Pattern.matches(grammar, text); }
}
