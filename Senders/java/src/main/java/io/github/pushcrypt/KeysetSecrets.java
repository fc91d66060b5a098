package io.github.pushcrypt;

import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;

/** What keeps a keyset secret: who may open its file, and the command that unwraps its key (docs/keyset-log.md). */
final class KeysetSecrets {
    private static final Path SELF = Path.of("/proc/self");
    private static final int KEY_SIZE = 32;
    private static final long TIMEOUT = TimeUnit.MINUTES.toNanos(2);

    /** "Files that are only read". Links are followed. */
    static void checkFile(Path file) throws IOException {
        Flaw.unless(Files.exists(file), "notFound", "there is no file " + file);
        if (!file.getFileSystem().supportedFileAttributeViews().contains("unix")) return;
        int mode = (Integer) Files.getAttribute(file, "unix:mode");
        Object owner = Files.getAttribute(file, "unix:uid");
        boolean isPipe = (mode & 0170000) == 0010000, isRoots = owner.equals(0);
        boolean isOwn = Files.exists(SELF) ? owner.equals(Files.getAttribute(SELF, "unix:uid"))
                : Files.getOwner(file).getName().equals(System.getProperty("user.name"));
        Flaw.unless(isPipe || isRoots || isOwn, "foreignOwner", file + " belongs to another user");
        // Of a file of root, its group may read it.
        Flaw.unless(isPipe || (mode & (isRoots ? 0037 : 0077)) == 0, "looseMode", "other users can open " + file);
    }

    /** The keyset key, of the outputs of all wrap commands: this command made one of them. */
    static byte[] unwrap(List<String> command, List<byte[]> wrapped) {
        PushCryptException failure = null;
        for (byte[] one : wrapped) {
            try {
                return unwrap(command, one);
            } catch (PushCryptException e) {
                failure = e;
            }
        }
        throw failure;
    }

    private static byte[] unwrap(List<String> command, byte[] wrapped) {
        ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(command)).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.command().add("unwrap");
        builder.environment().remove("PUSHCRYPT_PASSPHRASE");
        long end = System.nanoTime() + TIMEOUT;
        Process process = null;
        try {
            process = builder.start();
            InputStream output = process.getInputStream();
            FutureTask<byte[]> reading = new FutureTask<>(() -> output.readNBytes(KEY_SIZE + 1));
            new Thread(reading, "pushcrypt-unwrap").start();
            try (OutputStream input = process.getOutputStream()) {
                input.write(wrapped);
            } catch (IOException e) {
                // The program has ended, and its status says why.
            }
            byte[] key = reading.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            boolean hasEnded = process.waitFor(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            Flaw.unless(hasEnded && process.exitValue() == 0 && key.length == KEY_SIZE, "wrapCommandFailed",
                    "the command didn't write the 32 bytes of a key, or its exit status isn't 0");
            return key;
        } catch (IOException | InterruptedException | ExecutionException | TimeoutException e) {
            if (e instanceof InterruptedException) Thread.currentThread().interrupt();
            throw new PushCryptException("wrapCommandFailed", "the command that unwraps the keyset key failed", Map.of(), e);
        } finally {
            if (process != null) process.descendants().forEach(ProcessHandle::destroyForcibly);
            if (process != null) process.destroyForcibly();
        }
    }
}
