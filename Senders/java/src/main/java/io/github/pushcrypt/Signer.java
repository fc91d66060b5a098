package io.github.pushcrypt;

import java.time.Instant;

/** Where a sealer gets the key that it signs with. A {@link KeysetWatcher} follows the rotation of a keyset. */
@FunctionalInterface
public interface Signer {
    /** The key that signs at a time. Throws {@link PushCryptException} with {@code noKeySeals} if there is none. */
    SenderKey keyAt(Instant time);
}
