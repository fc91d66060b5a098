package io.github.pushcrypt;

import java.io.IOException;
import java.nio.file.*;
import java.time.*;
import java.util.*;

/**
 * The keyset of a running sender: it loads a rotated file without a restart. Give one with sender keys to a {@link Sealer}; of one with
 * recipients' or shared keys request a recipient for each push.
 *
 * <p>A thread compares the file's attributes once a second, and reads the file if they changed. If the new file is refused, or isn't a
 * later version of the one in use, that stays in use: {@link #refusal} and the logger {@code pushcrypt} say why. A revocation takes effect
 * even if no other key seals; then {@code noKeySeals} is thrown.
 */
public final class KeysetWatcher implements Signer, AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger("pushcrypt");
    private final Path file;
    private final List<String> command;
    private final InstantSource clock;
    private final Thread thread;
    private volatile KeysetLog log;
    private volatile Keyset keyset;
    private volatile PushCryptException refusal;
    private volatile Object stamp;
    private volatile boolean isClosed;
    /** Watches a keyset whose keys are in clear. Throws what {@link KeysetFile#read(Path)} throws, and {@code noKeySeals}. */
    public KeysetWatcher(Path file) { this(file, List.of()); }
    /** Watches a keyset whose keys a command unwraps; see {@link KeysetFile#read(Path, List)}. */
    public KeysetWatcher(Path file, List<String> command) { this(file, command, Duration.ofSeconds(1), InstantSource.system()); }
    KeysetWatcher(Path file, List<String> command, Duration interval, InstantSource clock) {
        this.file = file;
        this.command = List.copyOf(command);
        this.clock = clock;
        stamp = stamp();
        take(KeysetFile.read(file, this.command));
        keyset.required(clock.instant());
        thread = new Thread(() -> watch(interval.toMillis()), "pushcrypt-keyset");
        thread.setDaemon(true);
        thread.start();
    }
    private void watch(long interval) {
        try {
            while (!isClosed) {
                Thread.sleep(interval);
                if (!stamp().equals(stamp)) reload();
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }
    private Object stamp() {
        try {
            return Files.readAttributes(file, "unix:dev,ino,mode,uid,size,lastModifiedTime,ctime");
        } catch (IOException | RuntimeException e) {
            return new Object();
        }
    }
    /** Reads the file at once, and returns whether it is in use. */
    public synchronized boolean reload() {
        stamp = stamp();
        try {
            KeysetFile read = KeysetFile.read(file, command).requireAfter(log.head());
            Instant now = clock.instant();
            boolean isRevoked = keyset.primary(now).filter(used -> read.isRevoked(used.key().kid())).isPresent();
            if (!isRevoked) read.keyset().required(now);
            take(read);
        } catch (PushCryptException e) {
            boolean isNew = refusal == null || !refusal.getMessage().equals(e.getMessage());
            if (isNew) LOGGER.log(System.Logger.Level.ERROR, "keyset rejected; keeping the previous one: " + e.getMessage());
            refusal = e;
            // A later check of the same file can succeed.
            if (List.of("wrapCommandFailed", "inputOutput", "noKeySeals").contains(e.code())) stamp = null;
        }
        return refusal == null;
    }
    private void take(KeysetFile read) {
        log = read.log();
        keyset = read.keyset();
        refusal = null;
    }
    /** Why the file isn't in use; none if it is. */
    public Optional<PushCryptException> refusal() { return Optional.ofNullable(refusal); }
    /** The point of the log in use. */
    public KeysetLog.Point head() { return log.head(); }
    @Override public SenderKey keyAt(Instant time) { return keyset.keyAt(time); }
    /** The key to seal to at a time. Throws what {@link Keyset#recipientAt} throws. */
    public Recipient recipientAt(Instant time) { return keyset.recipientAt(time, false); }
    @Override
    public void close() {
        isClosed = true;
        thread.interrupt();
    }
}
