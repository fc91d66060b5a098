package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;
import static io.github.pushcrypt.KeysetFileTests.created;

import java.nio.file.*;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.*;
import java.util.*;

/** A keyset that changes while a sender runs. */
final class WatcherTests {
    private static final Instant NOW = Instant.parse("2026-06-01T00:00:00Z");

    private WatcherTests() {}

    private static KeysetWriter rotated(KeysetWriter before, Key first, Key next) {
        KeysetWriter writer = new KeysetWriter(before);
        Map<String, Object> keys = writer.adding(next, "createdAt", "2026-05-01T00:00:00Z", "activatesAt", "2026-05-01T00:00:00Z");
        keys.put(first.kid(), Map.of("retiresAt", "2026-05-01T00:00:00Z"));
        return writer.line("2026-05-01T00:00:00Z", "rotated", "keys", keys);
    }

    static void run() throws Exception {
        Path file = Files.createTempDirectory("pushcrypt").resolve("sender.keyset");
        Key first = newSender(), next = newSender();
        KeysetWriter before = created(first), after = rotated(before, first, next);
        KeysetWriter.write(file, before.plain());
        try (KeysetWatcher watcher = new KeysetWatcher(file, List.of(), null, Duration.ofDays(1), InstantSource.fixed(NOW))) {
            equal("the first key", first.kid(), watcher.keyAt(NOW).kid());
            KeysetFile.Point seen = watcher.head();
            check("the same file", watcher.reload());
            KeysetWriter.write(file, after.plain());
            check("a rotated file", watcher.reload() && watcher.keyAt(NOW).kid().equals(next.kid()) && watcher.refusal().isEmpty());
            Sealer sealer = new Sealer(TOPIC, watcher, InstantSource.fixed(NOW));
            check("a sealer signs with it", sealer.seal(SealingTests.PLAIN, SealingTests.recipient("p256"), SealingTests.PLACEHOLDER).json().contains("\"skid\":\"" + next.kid() + "\""));
            refuse(watcher, file, before.plain(), "olderThanHistory", next);
            refuse(watcher, file, created(next).plain(), "olderThanHistory", next);
            refuse(watcher, file, "{}\n".getBytes(), "malformed", next);
            byte[] broken = after.plain();
            broken[broken.length - 20] ^= 1;
            refuse(watcher, file, broken, null, next);
            KeysetWriter.write(file, after.plain());
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
            check("a file that others can read", !watcher.reload() && watcher.refusal().orElseThrow().code().equals("looseMode"));
            refuse(watcher, file, new KeysetWriter(after).line("2026-05-02T00:00:00Z", "policy", "keys", Map.of(next.kid(), Map.of("retiresAt", "2026-05-03T00:00:00Z"))).plain(), "noKeySeals", next);
            KeysetWriter.write(file, new KeysetWriter(after).line("2026-05-02T00:00:00Z", "revoked", "keys", Map.of(next.kid(), Map.of("revokedAt", "2027-01-01T00:00:00Z"))).plain());
            check("a revocation is taken", watcher.reload());
            refused("nothing is signed any more", "noKeySeals", () -> watcher.keyAt(NOW));
            check("a point that was seen", KeysetFile.read(file).requireAfter(seen) != null);
            KeysetWriter.write(file, before.plain());
            refused("an old copy", "olderThanHistory", () -> KeysetFile.read(file).requireAfter(watcher.head()));
            refused("an old copy at the start", "olderThanHistory", () -> new KeysetWatcher(file, List.of(), watcher.head()).close());
            refused("a log at the start that was seen", null, () -> new KeysetWatcher(file, List.of(), seen).close());
            refused("any log at the start", null, () -> new KeysetWatcher(file, List.of(), null).close());
        }
        KeysetWriter.write(file, before.plain());
        try (KeysetWatcher watcher = new KeysetWatcher(file, List.of(), null, Duration.ofMillis(10), InstantSource.fixed(NOW))) {
            KeysetWriter.write(file, after.plain());
            for (int wait = 0; wait < 500 && !watcher.keyAt(NOW).kid().equals(next.kid()); wait++) Thread.sleep(10);
            equal("the thread takes a new file", next.kid(), watcher.keyAt(NOW).kid());
        }
        KeysetWriter.write(file, before.plain());
        boolean[] fails = {false};
        InstantSource clock = () -> {
            if (fails[0]) throw new IllegalStateException("no clock");
            return NOW;
        };
        try (KeysetWatcher watcher = new KeysetWatcher(file, List.of(), null, Duration.ofDays(1), clock)) {
            KeysetWriter.write(file, after.plain());
            fails[0] = true;
            check("a failure that isn't a refusal doesn't end the watcher", !watcher.reload() && watcher.refusal().orElseThrow().code().equals("inputOutput"));
            fails[0] = false;
            check("the file is taken later", watcher.reload() && watcher.keyAt(NOW).kid().equals(next.kid()));
        }
        KeysetWriter.write(file, new KeysetWriter(after).line("2026-05-02T00:00:00Z", "revoked", "keys", Map.of(next.kid(), Map.of("revokedAt", "2026-05-02T00:00:00Z"))).plain());
        refused("no key at the start", "noKeySeals", () -> new KeysetWatcher(file).close());
        checkKind(file);
        checkErrors(file, before, after, next);
        checkRevocations(file, before, after, first, next);
        checkPipe(file.resolveSibling("pipe"), before, first);
        byte[] keysetKey = Bytes.random(32);
        List<String> command = KeysetFileTests.command(file.getParent(), keysetKey);
        String locks = "[" + KeysetWriter.commandLock("kms") + "]";
        KeysetWriter secret = created(first, "kms");
        KeysetWriter.write(file, secret.sealed(keysetKey, locks));
        try (KeysetWatcher watcher = new KeysetWatcher(file, command, null, Duration.ofDays(1), InstantSource.fixed(NOW))) {
            KeysetWriter.write(file, rotated(secret, first, next).sealed(keysetKey, locks));
            check("encrypted again after a rotation", watcher.reload() && watcher.keyAt(NOW).kid().equals(next.kid()));
            refuse(watcher, file, rotated(secret, first, next).plain(), "notEncrypted", next);
        }
    }

    /** The sealer of a backend that can't sign isn't made. */
    private static void checkKind(Path file) throws Exception {
        Key pair = key(((Json.Obj) vectors("pushcrypt-v1.json").get("keys")).get("p256"));
        KeysetWriter writer = new KeysetWriter();
        Map<String, Object> keys = writer.adding(pair, "createdAt", "2026-01-01T00:00:00Z", "activatesAt", "2026-01-01T00:00:00Z");
        KeysetWriter.write(file, writer.line("2026-01-01T00:00:00Z", "created", "id", Bytes.base64(new byte[16]), "kind", "recipient", "keys", keys).plain());
        try (KeysetWatcher watcher = new KeysetWatcher(file)) {
            refused("a sealer with a keyset of recipients", "wrongKind", () -> new Sealer(TOPIC, watcher));
        }
        Keyset sender = Keyset.fromJson(Json.write(newSender().record(true)));
        refused("a sealer with a sender's set", null, () -> new Sealer(TOPIC, sender));
        refused("a sealer with a set that isn't active", "noKeySeals", () -> new Sealer(TOPIC, sender, InstantSource.fixed(Instant.ofEpochSecond(-1))));
    }

    private static void checkErrors(Path file, KeysetWriter before, KeysetWriter after, Key next) throws Exception {
        KeysetWriter.write(file, before.plain());
        java.util.concurrent.atomic.AtomicInteger errors = new java.util.concurrent.atomic.AtomicInteger(-1_000_000);
        InstantSource clock = () -> {
            if (errors.incrementAndGet() > 0 && errors.get() < 3) throw new StackOverflowError();
            return NOW;
        };
        try (KeysetWatcher watcher = new KeysetWatcher(file, List.of(), null, Duration.ofMillis(10), clock)) {
            errors.set(0);
            KeysetWriter.write(file, after.plain());
            for (int wait = 0; wait < 200 && !watcher.keyAt(NOW).kid().equals(next.kid()); wait++) Thread.sleep(10);
            equal("the thread looks again after an Error", next.kid(), watcher.keyAt(NOW).kid());
        }
        errors.set(-1_000_000);
        KeysetWriter.write(file, before.plain());
        try (KeysetWatcher watcher = new KeysetWatcher(file, List.of(), null, Duration.ofDays(1), clock)) {
            errors.set(0);
            KeysetWriter.write(file, after.plain());
            check("an Error is a refusal", !watcher.reload() && watcher.refusal().orElseThrow().code().equals("inputOutput"));
        }
    }

    /** A log that abandons that of {@code after}, without a key that seals. */
    private static byte[] restored(KeysetWriter before, KeysetFile.Point abandoned, Key first, Key revoked) {
        Map<String, Object> members = Json.map("over", List.of(Json.map("n", abandoned.n(), "hash", abandoned.hash())), "keys", Map.of(first.kid(), Map.of("retiresAt", "2026-05-01T00:00:00Z")));
        if (revoked != null) members.put("revoked", Map.of(revoked.kid(), "2027-01-01T00:00:00Z"));
        KeysetWriter writer = new KeysetWriter(before);
        return writer.line("2026-05-03T00:00:00Z", "restored", members.entrySet().stream().flatMap(one -> java.util.stream.Stream.of(one.getKey(), one.getValue())).toArray()).plain();
    }

    private static void checkRevocations(Path file, KeysetWriter before, KeysetWriter after, Key first, Key next) throws Exception {
        KeysetWriter.write(file, after.plain());
        try (KeysetWatcher watcher = new KeysetWatcher(file, List.of(), null, Duration.ofDays(1), InstantSource.fixed(NOW))) {
            KeysetFile.Point head = watcher.head();
            refuse(watcher, file, restored(before, head, first, null), "noKeySeals", next);
            KeysetWriter.write(file, restored(before, head, first, next));
            check("a restoration that revokes the key of an abandoned log is taken", watcher.reload());
            refused("its key signs no more", "noKeySeals", () -> watcher.keyAt(NOW));
            check("the log revokes it", KeysetFile.read(file).isRevoked(next.kid()));
        }
        KeysetWriter idle = new KeysetWriter(after).line("2026-05-02T00:00:00Z", "revoked", "keys", Map.of(next.kid(), Map.of("revokedAt", "2026-05-02T00:00:00Z")));
        KeysetWriter.write(file, after.plain());
        try (KeysetWatcher watcher = new KeysetWatcher(file, List.of(), null, Duration.ofDays(1), InstantSource.fixed(NOW))) {
            KeysetWriter.write(file, idle.plain());
            check("no key seals any more", watcher.reload());
            KeysetWriter.write(file, new KeysetWriter(idle).line("2026-05-03T00:00:00Z", "policy").plain());
            check("a further file without a key that seals is taken", watcher.reload() && watcher.head().n() == 4);
        }
    }

    /** A pipe has its bytes once. */
    private static void checkPipe(Path pipe, KeysetWriter writer, Key key) throws Exception {
        equal("mkfifo", 0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        Thread writing = new Thread(() -> {
            try {
                Files.write(pipe, writer.plain(), StandardOpenOption.WRITE);
            } catch (java.io.IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
        writing.setDaemon(true);
        writing.start();
        KeysetWatcher watcher = new KeysetWatcher(pipe, List.of(), null, Duration.ofMillis(10), InstantSource.fixed(NOW));
        java.util.concurrent.FutureTask<Boolean> reloading = new java.util.concurrent.FutureTask<>(watcher::reload);
        Thread thread = new Thread(reloading);
        thread.setDaemon(true);
        thread.start();
        boolean isUsed = false;
        try {
            isUsed = reloading.get(3, java.util.concurrent.TimeUnit.SECONDS);
        } catch (java.util.concurrent.TimeoutException e) {
            // It reads the pipe again, and waits forever.
        }
        check("a pipe is read once", isUsed && watcher.keyAt(NOW).kid().equals(key.kid()));
        watcher.close();
    }

    private static void refuse(KeysetWatcher watcher, Path file, byte[] bytes, String code, Key used) throws Exception {
        KeysetWriter.write(file, bytes);
        check(code + " is refused", !watcher.reload());
        String found = watcher.refusal().map(PushCryptException::code).orElse(null);
        if (code != null) equal("why", code, found);
        equal("the key in use", used.kid(), watcher.keyAt(NOW).kid());
    }
}
