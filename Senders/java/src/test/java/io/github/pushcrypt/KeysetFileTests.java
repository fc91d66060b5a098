package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;

import io.github.pushcrypt.Json.Obj;
import java.nio.file.*;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.*;

/** keyset-log-v1.json, and files whose keys a command unwraps. */
final class KeysetFileTests {
    private KeysetFileTests() {}

    private static byte[] text(Obj vector, String name) throws Exception { return vector.string(name).getBytes("UTF-8"); }

    static void run() throws Exception {
        Obj file = vectors("keyset-log-v1.json");
        for (Obj one : cases(file, "accepted")) checkAccepted(one);
        int withPassphrase = 0;
        for (Obj one : cases(file, "refused")) {
            if (one.has("passphrase") || one.get("code").equals("secretNeeded")) {
                // What only the passphrase finds isn't found here; the keys of the file are never used.
                withPassphrase++;
                if (!one.get("code").equals("notEncrypted")) check(one.string("name"), code(() -> KeysetFile.parse(text(one, "keyset"), List.of())) != null);
                continue;
            }
            try {
                KeysetFile.parse(text(one, "keyset"), List.of());
                check(one.string("name") + " is refused", false);
            } catch (PushCryptException e) {
                equal(one.string("name"), one.get("code"), e.code());
                equal(one.string("name"), one.get("row"), e.facts().get("row"));
            }
        }
        System.out.println("  refused vectors with a passphrase: " + withPassphrase);
        for (Obj one : cases(file, "extends")) {
            KeysetLog log = log(one, "log");
            KeysetFile.Point point = one.has("point") ? point((Obj) one.get("point")) : log(one, "other").head;
            equal(one.string("name"), one.get("extends"), log.points.contains(point));
        }
        equal("4 MiB and a byte", "tooLarge", code(() -> KeysetFile.parse(new byte[(4 << 20) + 1], List.of())));
        equal("no UTF-8", "malformed", code(() -> KeysetFile.parse(new byte[] {'{', '"', (byte) 0xFF, '"', ':', '1', '}', '\n', '{', '}', '\n'}, List.of())));
        Path folder = Files.createTempDirectory("pushcrypt");
        checkCommand(folder);
        checkFiles(folder);
        checkReplaced(folder);
    }

    /** A link that changes all the time leads to a file that only its owner can open, or to one that others can. */
    private static void checkReplaced(Path folder) throws Exception {
        Key own = newSender(), foreign = newSender();
        Path good = KeysetWriter.write(folder.resolve("good.keyset"), created(own).plain()), loose = KeysetWriter.write(folder.resolve("loose.keyset"), created(foreign).plain());
        Files.setPosixFilePermissions(loose, PosixFilePermissions.fromString("rw-rw-rw-"));
        Path link = Files.createSymbolicLink(folder.resolve("changing.keyset"), good), next = folder.resolve("next.keyset");
        java.util.concurrent.atomic.AtomicBoolean isDone = new java.util.concurrent.atomic.AtomicBoolean();
        Thread changing = new Thread(() -> {
            for (int turn = 0; !isDone.get(); turn++) {
                try {
                    Files.move(Files.createSymbolicLink(next, turn % 2 == 0 ? loose : good), link, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
                } catch (java.io.IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            }
        });
        changing.start();
        int read = 0, taken = 0;
        for (int turn = 0; turn < 1_500; turn++) {
            try {
                read++;
                if (!KeysetFile.read(link).keyset().entries.get(0).key().kid().equals(own.kid())) taken++;
            } catch (PushCryptException e) {
                if (!List.of("looseMode", "inputOutput").contains(e.code())) throw e;
            }
        }
        isDone.set(true);
        changing.join(10_000);
        equal("files that others can open, of " + read + " that changed while they were read", 0, taken);
    }

    private static void checkCommandOutput(Path folder, byte[] sealed, Key sender, Instant now) throws Exception {
        Path pids = folder.resolve("pids");
        long start = System.nanoTime();
        List<String> holding = List.of("/bin/sh", "-c", "sleep 100 & echo $! > \"$1/pids\"; sleep 0.3; cat > /dev/null; cat \"$1/key\"", "sh", folder.toString());
        equal("a child holds the output after the command ended", sender.kid(), KeysetFile.parse(sealed, holding).keyset().keyAt(now).kid());
        long child = Long.parseLong(Files.readString(pids).strip());
        check("the child is ended", ProcessHandle.of(child).map(one -> one.onExit().orTimeout(5, java.util.concurrent.TimeUnit.SECONDS).handle((ended, late) -> late == null).join()).orElse(true));
        List<String> long33 = List.of("/bin/sh", "-c", "cat > /dev/null; head -c 33 /dev/zero; exec sleep 100");
        refused("more than a key", "wrapCommandFailed", () -> KeysetFile.parse(sealed, long33));
        check("both take no more than 20 seconds", System.nanoTime() - start < 20_000_000_000L);
    }

    private static KeysetLog log(Obj one, String name) throws Exception { return KeysetFile.log(rows(one, name), new int[1]); }

    private static List<byte[]> rows(Obj one, String name) throws Exception {
        List<byte[]> rows = new ArrayList<>();
        for (String row : one.string(name).split("\n")) rows.add(row.getBytes("UTF-8"));
        return rows;
    }

    private static KeysetFile.Point point(Obj value) { return new KeysetFile.Point(value.integer("n", 1, 1L << 52), value.string("hash")); }

    private static void checkAccepted(Obj one) throws Exception {
        String name = one.string("name");
        boolean isSealed = one.string("keyset").contains("\"sealed\"");
        KeysetLog log;
        try {
            List<byte[]> rows = rows(one, "keyset");
            log = isSealed ? KeysetFile.log(rows.subList(0, rows.size() - 1), new int[1]) : KeysetFile.parse(text(one, "keyset"), List.of()).log;
        } catch (PushCryptException e) {
            check(name + ": " + e.getMessage(), false);
            return;
        }
        equal(name + ": id", one.get("id"), log.id);
        equal(name + ": kind", one.get("kind"), log.kind);
        equal(name + ": head", point((Obj) one.get("head")), log.head);
        equal(name + ": points", cases(one, "points").stream().map(KeysetFileTests::point).toList(), log.points);
        Obj state = (Obj) one.get("state"), keys = (Obj) state.get("keys");
        equal(name + ": keys", keys.keySet(), log.keys.keySet().containsAll(keys.keySet()) ? keys.keySet() : log.keys.keySet());
        equal(name + ": number of keys", keys.size(), log.keys.size());
        equal(name + ": at", Keyset.seconds(state.get("at"), "at"), log.at);
        equal(name + ": issuedAt", state.has("issuedAt") ? Keyset.seconds(state.get("issuedAt"), "issuedAt") : null, log.issuedAt);
        equal(name + ": secrets", state.has("secrets") ? new TreeSet<>(state.list("secrets", 0, 8).stream().map(String::valueOf).toList()) : Set.of(), new TreeSet<>(log.secrets));
        if (state.has("revoked")) {
            Obj revoked = (Obj) state.get("revoked");
            for (String kid : revoked.keySet()) equal(name + ": revoked " + kid, Keyset.seconds(revoked.get(kid), "revoked"), log.revoked.get(kid));
            equal(name + ": revoked", revoked.size(), log.revoked.size());
        }
        for (String kid : keys.keySet()) {
            Obj key = (Obj) keys.get(kid);
            KeysetLog.LoggedKey logged = log.keys.get(kid);
            String algorithm = logged.key() == null ? "shared" : logged.key().type().name().toLowerCase() + (logged.key().isPublisher() ? "-publisher" : "");
            equal(name + ": algorithm", key.get("algorithm"), algorithm);
            Map<String, Long> times = new TreeMap<>();
            for (String moment : Keyset.MOMENTS) {
                if (key.has(moment)) times.put(moment, Keyset.seconds(key.get(moment), moment));
            }
            equal(name + ": times", times, new TreeMap<>(logged.times()));
            equal(name + ": psk and lost", key.has("psk") + " " + key.has("lost"), logged.hasPsk() + " " + logged.isLost());
        }
        if (isSealed) {
            equal(name + " isn't opened", "secretNeeded", code(() -> KeysetFile.parse(text(one, "keyset"), List.of())));
            return;
        }
        Keyset keyset = KeysetFile.parse(text(one, "keyset"), List.of()).keyset();
        equal(name + ": keys with material", log.keys.values().stream().filter(KeysetLog.LoggedKey::hasMaterial).count(), keyset.entries.size());
        check(name + ": no private key of a recipient", keyset.entries.stream().noneMatch(entry -> entry.key().type().isPair() && entry.key().secret() != null));
    }

    // --- A command ---

    /** A command that writes the key if its input is what was wrapped, and its last argument is unwrap. */
    static List<String> command(Path folder, byte[] keysetKey) throws Exception {
        Files.write(folder.resolve("wrapped"), KeysetWriter.WRAPPED);
        Files.write(folder.resolve("key"), keysetKey);
        return List.of("/bin/sh", "-c", "cmp -s - \"$1/wrapped\" && test \"$2\" = unwrap && test -z \"$PUSHCRYPT_PASSPHRASE\" && cat \"$1/key\"", "sh", folder.toString());
    }

    static KeysetWriter created(Key sender, String... secrets) {
        KeysetWriter writer = new KeysetWriter();
        Map<String, Object> keys = writer.adding(sender, "createdAt", "2026-01-01T00:00:00Z", "activatesAt", "2026-01-01T00:00:00Z");
        return writer.line("2026-01-01T00:00:00Z", "created", "id", Bytes.base64(new byte[16]), "kind", "sender", "keys", keys, "secrets", List.of(secrets));
    }

    private static void checkCommand(Path folder) throws Exception {
        Key sender = newSender();
        byte[] keysetKey = Bytes.random(32);
        List<String> command = command(folder, keysetKey);
        KeysetWriter writer = created(sender, "kms", "paper");
        String paper = "{\"name\":\"paper\",\"passphrase\":{\"n\":2,\"r\":1,\"p\":1,\"salt\":\"" + Bytes.base64(new byte[16]) + "\",\"check\":\"" + Bytes.base64(new byte[16]) + "\"},\"key\":\"" + Bytes.base64(new byte[60]) + "\"}";
        String locks = "[" + paper + "," + KeysetWriter.commandLock("kms") + "]";
        byte[] sealed = writer.sealed(keysetKey, locks);
        Path file = KeysetWriter.write(folder.resolve("sender.keyset"), sealed);
        Instant now = Instant.parse("2026-06-01T00:00:00Z");
        equal("the key signs", sender.kid(), KeysetFile.read(file, command).keyset().keyAt(now).kid());
        String first = KeysetWriter.commandLock("aws").replace(Bytes.base64(KeysetWriter.WRAPPED), "AAAA");
        byte[] two = created(sender, "aws", "kms").sealed(keysetKey, "[" + first + "," + KeysetWriter.commandLock("kms") + "]");
        equal("the command of the second secret", sender.kid(), KeysetFile.parse(two, command).keyset().keyAt(now).kid());
        refused("no command", "secretNeeded", () -> KeysetFile.read(file));
        try {
            KeysetFile.parse(created(sender, "paper").sealed(keysetKey, "[" + paper + "]"), command);
            check("a passphrase alone is refused", false);
        } catch (PushCryptException e) {
            equal("a passphrase alone", "secretNeeded", e.code());
            check("the error names the sidecar: " + e.getMessage(), e.getMessage().contains("pushcrypt seal --stream"));
        }
        refused("plain keys, and a command", "notEncrypted", () -> KeysetFile.parse(writer.plain(), command));
        equal("plain keys", sender.kid(), KeysetFile.parse(writer.plain(), List.of()).keyset().keyAt(now).kid());
        refused("a secret that no line shows", "otherSecrets", () -> KeysetFile.parse(created(sender, "kms").sealed(keysetKey, locks), command));
        refused("a secret of the log that is missing", "otherSecrets", () -> KeysetFile.parse(writer.sealed(keysetKey, "[" + KeysetWriter.commandLock("kms") + "]"), command));
        refused("another keyset key", "notAuthentic", () -> KeysetFile.parse(writer.sealed(Bytes.random(32), locks), command));
        for (List<String> wrong : List.of(List.of("/bin/sh", "-c", "cat > /dev/null; exit 1"), List.of("/bin/sh", "-c", "cat > /dev/null; echo short"), List.of("/bin/sh", "-c", "exec 0<&-; head -c 33 /dev/zero"),
                List.of("/bin/sh", "-c", "head -c 32 /dev/zero; exit 3"), List.of("/bin/no-such-program"))) {
            refused("a command that fails: " + wrong, "wrapCommandFailed", () -> KeysetFile.parse(sealed, wrong));
        }
        checkCommandOutput(folder, sealed, sender, now);
        // Each row and each value that is changed is found.
        String text = new String(sealed, "UTF-8"), other = new String(writer.sealed(keysetKey, locks), "UTF-8");
        for (String member : List.of("dataKey", "keys", "mac")) {
            int at = text.lastIndexOf("\"" + member + "\":\"") + member.length() + 4 + 5;
            String changed = text.substring(0, at) + (text.charAt(at) == 'A' ? 'B' : 'A') + text.substring(at + 1);
            refused(member + " changed", "notAuthentic", () -> KeysetFile.parse(changed.getBytes("UTF-8"), command));
        }
        refused("who changed", "notAuthentic", () -> KeysetFile.parse(text.replace("alice", "alicf").getBytes("UTF-8"), command));
        refused("the locks changed", "notAuthentic", () -> KeysetFile.parse(text.replace("paper\",\"pass", "papes\",\"pass").getBytes("UTF-8"), command));
        String mac = other.substring(other.lastIndexOf("\"mac\":\""));
        refused("a mac of another history key", "notAuthentic", () -> KeysetFile.parse((text.substring(0, text.lastIndexOf("\"mac\":\"")) + mac).getBytes("UTF-8"), command));
        for (String[] change : new String[][] {{"\"command\":true", "\"command\":false"}, {"\"n\":2", "\"n\":3"}, {"\"n\":2", "\"n\":2097152"}, {"\"n\":2", "\"n\":65536"}, {"\"r\":1", "\"r\":33"}, {"\"p\":1", "\"p\":17"}, {"\"n\":2,\"r\":1", "\"n\":1048576,\"r\":9"},
            {"\"name\":\"kms\"", "\"name\":\"paper\""}, {"\"name\":\"kms\"", "\"name\":\"k s\""}, {"\"command\":true", "\"command\":true,\"x\":1"}}) {
            refused("locks with " + change[1], "malformed", () -> KeysetFile.parse(text.replace(change[0], change[1]).getBytes("UTF-8"), command));
        }
    }

    private static void checkFiles(Path folder) throws Exception {
        Key sender = newSender();
        Path file = KeysetWriter.write(folder.resolve("modes.keyset"), created(sender).plain());
        for (String mode : List.of("rw-------", "r--------")) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
            refused("mode " + mode, null, () -> KeysetFile.read(file));
        }
        boolean isRoot = Files.getAttribute(file, "unix:uid").equals(0);
        for (String mode : List.of("rw-r--r--", "rw-------x", "rw--w----", "rw----r--", "rw-rw----", isRoot ? "rw----r--" : "rw-r-----")) {
            if (mode.length() != 9) continue;
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
            refused("mode " + mode, "looseMode", () -> KeysetFile.read(file));
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        refused("mode 0640 of " + (isRoot ? "root" : "a user"), isRoot ? null : "looseMode", () -> KeysetFile.read(file));
        if (isRoot) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            Files.setAttribute(file, "unix:uid", 12_345);
            refused("a file of another user", "foreignOwner", () -> KeysetFile.read(file));
            Files.setAttribute(file, "unix:uid", 0);
        }
        refused("no file", "notFound", () -> KeysetFile.read(folder.resolve("no.keyset")));
        Path link = folder.resolve("link.keyset");
        Files.createSymbolicLink(link, file);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        refused("a link", null, () -> KeysetFile.read(link));
    }
}
