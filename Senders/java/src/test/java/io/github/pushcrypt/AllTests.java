package io.github.pushcrypt;

import io.github.pushcrypt.Json.Obj;
import java.nio.file.*;
import java.security.KeyPair;
import java.util.*;

/** Runs all tests: the vectors of the repository, and what a program sees. With the argument {@code bench} it measures sealing. */
public final class AllTests {
    static final String TOPIC = "com.example.app";
    static final long AT = 1_800_000_000;
    private static int passed, failed, skipped;
    private static final Set<String> FAILED_GROUPS = new TreeSet<>();
    private static String group = "";

    private AllTests() {}

    public static void main(String[] arguments) throws Exception {
        if (List.of(arguments).contains("bench")) {
            Benchmark.run();
            return;
        }
        run("json", JsonTests::run);
        run("hpke", HpkeTests::run);
        run("keys", KeyTests::run);
        run("sealing", SealingTests::run);
        run("oversize", OversizeTests::run);
        run("carriers", CarrierTests::run);
        run("blobs", BlobTests::run);
        run("registrations", RegistrationTests::run);
        run("device sets", DeviceSetTests::run);
        run("receipts", ReceiptTests::run);
        run("keyset files", KeysetFileTests::run);
        run("watcher", WatcherTests::run);
        run("readme", ReadmeTests::run);
        run("interop", InteropTests::run);
        System.out.println(passed + " passed, " + failed + " failed, " + skipped + " skipped");
        if (failed > 0) {
            System.out.println("failed: " + FAILED_GROUPS);
            System.exit(1);
        }
    }

    interface Body {
        void run() throws Exception;
    }

    private static void run(String name, Body body) {
        group = name;
        int before = passed;
        try {
            body.run();
        } catch (Throwable e) {
            fail("the group ended early: " + e);
            e.printStackTrace(System.out);
        }
        System.out.println(name + ": " + (passed - before));
    }

    private static void fail(String what) {
        failed++;
        FAILED_GROUPS.add(group);
        if (failed <= 40) System.out.println("FAILED " + group + ": " + what);
    }

    static void skip(int count) { skipped += count; }

    static void check(String what, boolean isRight) {
        if (isRight) passed++;
        else fail(what);
    }

    static void equal(String what, Object expected, Object found) {
        check(what + ": expected " + expected + ", found " + found, Objects.equals(String.valueOf(expected), String.valueOf(found)));
    }

    /** The code of the refusal; null if there is none. */
    static String code(Body body) throws Exception {
        try {
            body.run();
            return null;
        } catch (PushCryptException e) {
            return e.code();
        }
    }

    static void refused(String what, String code, Body body) throws Exception { equal(what, code, code(body)); }

    static byte[] hex(Object text) { return HexFormat.of().parseHex((String) text); }

    static String hex(byte[] bytes) { return HexFormat.of().formatHex(bytes); }

    /** The first of these paths that is in this folder or in one above it. */
    static Path above(String... paths) {
        for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
            for (String path : paths) {
                if (Files.exists(folder.resolve(path))) return folder.resolve(path);
            }
        }
        throw new IllegalStateException(List.of(paths) + " isn't above this folder");
    }

    private static Path vectorFolder() {
        String given = System.getProperty("vectors");
        return given != null ? Path.of(given) : above("Conformance/vectors");
    }

    static Obj vectors(String name) throws Exception { return Json.parse(Files.readAllBytes(vectorFolder().resolve(name))); }

    /** The elements of an array in a file of vectors. */
    static List<Obj> cases(Obj file, String name) {
        List<Obj> found = new ArrayList<>();
        for (Object one : file.list(name, 1, 100_000)) found.add((Obj) one);
        return found;
    }

    static List<Obj> array(String name) throws Exception {
        byte[] text = Files.readAllBytes(vectorFolder().resolve(name));
        return cases(Json.parse(Bytes.concat("{\"all\":".getBytes(), text, "}".getBytes())), "all");
    }

    static Key key(Object jwk) { return Key.read(jwk, true); }

    /** A fresh private key of a sender. */
    static Key newSender() {
        KeyPair pair = Bytes.crypto(KeyType.ED25519::generate);
        byte[] encoded = pair.getPrivate().getEncoded(), secret = Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length);
        return new Key(KeyType.ED25519, null, KeyType.ED25519.serialised(pair.getPublic()), secret, null, null, false);
    }

    static Key publicHalf(Key key) {
        byte[] secret = key.type() == KeyType.SHARED ? key.secret() : null;
        return new Key(key.type(), key.device() == null ? null : key.kid(), key.publicBytes(), secret, key.psk(), key.device(), false);
    }
}
