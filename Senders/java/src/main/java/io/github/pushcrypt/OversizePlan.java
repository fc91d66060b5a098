package io.github.pushcrypt;

import java.util.function.Function;

/** What a sealer does with a payload that doesn't fit into a push. */
public sealed interface OversizePlan {
    /** Refuses it with {@code tooLarge}. */
    record Refuse() implements OversizePlan {}
    /** Shortens the body at the end of a character as the user sees it, to {@code minimum} characters or more, and appends "…". */
    record ShortenBody(int minimum) implements OversizePlan {}
    /**
     * Shortens the body, and otherwise seals the payload as a blob, and a push of its {@code aps} with a shorter body. {@code store} keeps
     * the blob, which you upload before you send the push, and returns its https address.
     */
    record ShortenBodyOrOffload(int minimum, Function<SealedBlob, String> store) implements OversizePlan {}
}
