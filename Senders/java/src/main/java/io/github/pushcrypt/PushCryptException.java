package io.github.pushcrypt;

import java.util.*;

/**
 * Something was refused. Neither the message nor a fact contains a secret or a part of a payload. The codes are those of the protocol and of
 * the other implementations, and {@code backendFailure} if the cryptography of Java failed. More may be added, so handle unknown ones.
 */
public final class PushCryptException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final String code;
    private final HashMap<String, Integer> facts;
    PushCryptException(String code, String reason) { this(code, reason, Map.of(), null); }
    PushCryptException(String code, String reason, Map<String, Integer> facts, Throwable cause) {
        super(code + ": " + reason, cause);
        this.code = code;
        this.facts = new HashMap<>(facts);
    }
    /** The kind of failure. The message says what is wrong, where, and what to do. */
    public String code() { return code; }
    /**
     * What a program can use. With {@code tooLarge} of a push, {@code bytesNeeded}: the length of the outer payload without padding, and
     * {@code bytesAvailable}: the limit. With the refusal of a keyset's file, {@code row}: the row at fault, counted from 1; 0 is the whole file.
     */
    public Map<String, Integer> facts() { return Collections.unmodifiableMap(facts); }
    String reason() { return getMessage().substring(code.length() + 2); }
}
