package io.github.pushcrypt;

import java.io.IOException;
import java.nio.file.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;

/**
 * The keyset of a running sender: it loads a rotated file without a restart. Give one with sender keys to a {@link Sealer}; of one with
 * recipients' or shared keys request a recipient for each push.
 * A thread compares the file's attributes once a second, and reads the file if they changed. If the new file is refused, or isn't a later
 * version of the one in use, that stays in use: {@link #refusal} and the logger {@code pushcrypt} say why. A revocation takes effect even if
 * no other key seals; then {@code noKeySeals} is thrown.
 */
public final class KeysetWatcher implements Sealer.Signer, AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger("pushcrypt");
    private final Path path;
    private final List<String> command;
    private final InstantSource clock;
    // It counts time by nanoTime: a timer of the wall clock would rest for hours after that is set back.
    private final ScheduledExecutorService looks = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "pushcrypt-keyset");
        thread.setDaemon(true);
        return thread;
    });
    private volatile KeysetFile used;
    private volatile PushCryptException refusal;
    private final boolean isPipe;
    private Map<String, Object> stamp;
    /** Watches a keyset whose keys are in clear. Throws what {@link KeysetFile#read(Path)} throws, and {@code noKeySeals}. */
    public KeysetWatcher(Path file) { this(file, List.of()); }
    /** Watches a keyset whose keys a command unwraps; see {@link KeysetFile#read(Path, List)}. */
    public KeysetWatcher(Path file, List<String> command) { this(file, command, null); }
    /** Watches a keyset after an earlier run, whose {@link #head} was {@code seen}: an older log is refused with {@code olderThanHistory}. */
    public KeysetWatcher(Path file, List<String> command, KeysetFile.Point seen) {
        this(file, command, seen, Duration.ofSeconds(1), InstantSource.system());
    }
    KeysetWatcher(Path path, List<String> command, KeysetFile.Point seen, Duration interval, InstantSource clock) {
        this.path = path;
        this.command = List.copyOf(command);
        this.clock = clock;
        stamp = stamp();
        isPipe = KeysetFile.isPipe(stamp);
        used = KeysetFile.read(path, this.command).requireAfter(seen);
        used.keyset().required(clock.instant());
        looks.scheduleWithFixedDelay(() -> {
            try {
                look(false);
            } catch (Throwable e) {
                // What isn't caught here would end the looks. It can only be the logger's.
            }
        }, interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
    }
    private Map<String, Object> stamp() {
        try {
            return KeysetFile.attributes(path);
        } catch (IOException e) {
            return Map.of("", new Object());
        }
    }
    /** Reads the file at once, and returns whether it is in use. A pipe is read only at the start. */
    public boolean reload() { return look(true); }
    private synchronized boolean look(boolean isForced) {
        try {
            Map<String, Object> found = stamp();
            if (isPipe || !isForced && found.equals(stamp)) return refusal == null;
            stamp = found;
            KeysetFile read = KeysetFile.read(path, command).requireAfter(used.head());
            Instant now = clock.instant();
            // Without a key nothing is signed: right only if the one in use was revoked, or there is none.
            if (used.keyset().primary(now).filter(entry -> !read.isRevoked(entry.key().kid())).isPresent()) read.keyset().required(now);
            used = read;
            refusal = null;
        } catch (Throwable e) {
            PushCryptException known = refusal;
            refusal = e instanceof PushCryptException why ? why : new PushCryptException("inputOutput", "the keyset can't be read", Map.of(), e);
            // A later check of the same file can succeed.
            if (List.of("wrapCommandFailed", "inputOutput", "noKeySeals").contains(refusal.code())) stamp = null;
            boolean isKnown = known != null && known.getMessage().equals(refusal.getMessage());
            if (!isKnown) LOGGER.log(System.Logger.Level.ERROR, "keyset rejected; keeping the previous one: " + refusal.getMessage());
        }
        return refusal == null;
    }
    /** Why the file isn't in use; none if it is. */
    public Optional<PushCryptException> refusal() { return Optional.ofNullable(refusal); }
    /** The point of the log in use. */
    public KeysetFile.Point head() { return used.head(); }
    @Override public SenderKey keyAt(Instant time) { return used.keyset().keyAt(time); }
    /** The key to seal to at a time. Throws what {@link Keyset#recipientAt} throws. */
    public Recipient recipientAt(Instant time) { return used.keyset().recipientAt(time, false); }
    @Override public void close() { looks.shutdown(); }
}
