package io.github.pushcrypt;

import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;

/** What keeps a keyset secret: who may open its file, and the command that unwraps its key (docs/keyset-log.md). */
final class KeysetSecrets {
    private static final Path SELF = Path.of("/proc/self");
    private static final int KEY_SIZE = 32, TIMEOUT_IN_SECONDS = 120;
    /** "Files that are only read". Links are followed. */
    static void checkFile(Path file) throws IOException {
        if (!Files.exists(file)) throw new PushCryptException("notFound", "there is no file " + file);
        if (!file.getFileSystem().supportedFileAttributeViews().contains("unix")) return;
        int mode = (Integer) Files.getAttribute(file, "unix:mode");
        boolean isPipe = (mode & 0170000) == 0010000, isRoots = Files.getAttribute(file, "unix:uid").equals(0);
        boolean isOwn = Files.exists(SELF) ? Files.getAttribute(file, "unix:uid").equals(Files.getAttribute(SELF, "unix:uid"))
                : Files.getOwner(file).getName().equals(System.getProperty("user.name"));
        if (!isPipe && !isRoots && !isOwn) throw new PushCryptException("foreignOwner", file + " belongs to another user");
        // Of a file of root, its group may read it.
        if (!isPipe && (mode & (isRoots ? 0037 : 0077)) != 0) throw new PushCryptException("looseMode", "other users can open " + file);
    }
    /** "The wrap command", without a shell. */
    static byte[] unwrap(List<String> command, byte[] wrapped) {
        ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(command)).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.command().add("unwrap");
        builder.environment().remove("PUSHCRYPT_PASSPHRASE");
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
            byte[] key = reading.get(TIMEOUT_IN_SECONDS, TimeUnit.SECONDS);
            if (process.waitFor(TIMEOUT_IN_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0 && key.length == KEY_SIZE) return key;
            throw new PushCryptException("wrapCommandFailed", "the command didn't write the 32 bytes of a key, or its exit status isn't 0");
        } catch (IOException | InterruptedException | ExecutionException | TimeoutException e) {
            throw new PushCryptException("wrapCommandFailed", "the command that unwraps the keyset key failed", null, e);
        } finally {
            if (process != null) process.descendants().forEach(ProcessHandle::destroyForcibly);
            if (process != null) process.destroyForcibly();
        }
    }
}
