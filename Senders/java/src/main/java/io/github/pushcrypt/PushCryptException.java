package io.github.pushcrypt;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * Something was refused. Neither the message nor a fact contains a secret or a part of a payload.
 *
 * <p>The codes are those of the protocol and of the other implementations, such as {@code invalidPayload} and {@code tooLarge}, and
 * {@code backendFailure} if the cryptography of the Java platform failed. More may be added, so handle unknown ones.
 */
public final class PushCryptException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final String code;
    private final transient Fact fact;
    /** What a program can use of a refusal, beside its code. */
    public sealed interface Fact {}
    /** With {@code tooLarge}: the length of the outer payload without padding, and the limit, in bytes. */
    public record Size(int bytesNeeded, int bytesAvailable) implements Fact {}
    /** With the refusal of a keyset's file: the row at fault, counted from 1; 0 is the whole file. */
    public record Row(int number) implements Fact {}
    PushCryptException(String code, String reason) { this(code, reason, null, null); }
    PushCryptException(String code, String reason, Fact fact, Throwable cause) {
        super(code + ": " + reason, cause);
        this.code = code;
        this.fact = fact;
    }
    /** The kind of failure. The message says what is wrong, where, and what to do. */
    public String code() { return code; }
    /** The size or the row at fault. */
    public Optional<Fact> fact() { return Optional.ofNullable(fact); }
    String reason() { return getMessage().substring(code.length() + 2); }
    /** Text or bytes break a rule of the protocol. A reader gives it a code. */
    static final class Flaw extends RuntimeException {
        private static final long serialVersionUID = 1;
        Flaw(String reason) { super(reason, null, false, false); }
        static void unless(boolean isRight, String reason) {
            if (!isRight) throw new Flaw(reason);
        }
    }
    static void unless(boolean isRight, String code, String reason) {
        if (!isRight) throw new PushCryptException(code, reason);
    }
    /** Runs a reader, and gives a flaw that it finds a code. */
    static <T> T reading(String code, String what, Supplier<T> reader) {
        try {
            return reader.get();
        } catch (Flaw flaw) {
            throw new PushCryptException(code, what + ": " + flaw.getMessage());
        }
    }
}
