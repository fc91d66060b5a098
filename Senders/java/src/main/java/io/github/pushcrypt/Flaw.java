package io.github.pushcrypt;

import java.util.function.Supplier;

/** Text or bytes break a rule of the protocol. A reader gives it a code. */
final class Flaw extends RuntimeException {
    private static final long serialVersionUID = 1;
    Flaw(String reason) { super(reason, null, false, false); }
    static void unless(boolean isRight, String reason) {
        if (!isRight) throw new Flaw(reason);
    }
    static void unless(boolean isRight, String code, String reason) {
        if (!isRight) throw new PushCryptException(code, reason);
    }
    /** Runs a reader, and gives a flaw that it finds a code. */
    static <T> T coded(String code, String what, Supplier<T> reader) {
        try {
            return reader.get();
        } catch (Flaw flaw) {
            throw new PushCryptException(code, what + ": " + flaw.getMessage());
        }
    }
}
