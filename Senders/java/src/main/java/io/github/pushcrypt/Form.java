package io.github.pushcrypt;

import io.github.pushcrypt.Json.Obj;
import io.github.pushcrypt.PushCryptException.Flaw;
import java.util.*;
import java.util.regex.Pattern;

/** The form of a JSON value in a grammar. A {@link Flaw} in place of false says more. */
@FunctionalInterface
interface Form {
    boolean fits(Object value);
    Form TRUE = Boolean.TRUE::equals;
    Form TIME = value -> Keyset.seconds(value, "a time") > Long.MIN_VALUE;
    Form TEXT = value -> value instanceof String text && text.length() > 0 && Bytes.utf8(text).length <= 256 && text.chars().noneMatch(Character::isISOControl);
    Form NAME = matching("[A-Za-z0-9._-]{1,64}");
    /** An object with the required members, and no others than the optional ones. */
    static Form object(Map<String, Form> required, Map<String, Form> optional) {
        return value -> {
            Obj object = Json.object(value, "a value");
            if (!object.keySet().containsAll(required.keySet())) throw new Flaw("a member is missing");
            object.forEach((name, member) -> {
                Form form = required.getOrDefault(name, optional.get(name));
                if (form == null || !form.fits(member)) throw new Flaw(form == null ? "there is an unknown member" : name + " has another form or range");
            });
            return true;
        };
    }
    static Form map(Form name, Form member, int fewest) {
        return value -> value instanceof Obj object && object.size() >= fewest
                && object.entrySet().stream().allMatch(one -> name.fits(one.getKey()) && member.fits(one.getValue()));
    }
    /** An array; {@code isDistinct} if no element is there twice. */
    static Form list(Form item, int fewest, int most, boolean isDistinct) {
        return value -> value instanceof List<?> items && fewest <= items.size() && items.size() <= most && items.stream().allMatch(item::fits)
                && (!isDistinct || new HashSet<>(items).size() == items.size());
    }
    static Form base64(int size) { return value -> Bytes.base64(value, size, "a value").length > 0; }
    static Form integer(long lowest, long highest) { return value -> Json.isInteger(value, lowest, highest); }
    static Form oneOf(String... texts) { return value -> Arrays.asList(texts).contains(value); }
    static Form orNull(Form form) { return value -> value == null || form.fits(value); }
    static Form matching(String grammar) {
        Pattern pattern = Pattern.compile(grammar);
        return value -> value instanceof String text && pattern.matcher(text).matches();
    }
}
