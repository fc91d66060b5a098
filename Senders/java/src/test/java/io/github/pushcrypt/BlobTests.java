package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;
import static io.github.pushcrypt.SealingTests.*;

import io.github.pushcrypt.Json.Obj;
import java.util.*;

/** blobs-v1.json: blobs, references, offloaded payloads. */
final class BlobTests {
    private BlobTests() {}

    static void run() throws Exception {
        Obj file = vectors("blobs-v1.json");
        for (Obj blob : cases(file, "blobs")) {
            int size = (int) blob.integer("size", 0, 10_000_000);
            byte[] plaintext = new byte[size];
            for (int i = 0; i < size; i++) plaintext[i] = (byte) (167 * i + 13 * (i >> 8) + size);
            byte[] sealed = SealedBlob.seal(blob.bytes("key", 32), blob.get("purpose").equals("attachment") ? 1 : 2, plaintext);
            equal(blob.string("name"), blob.get("sha256"), Bytes.base64(Bytes.sha256(sealed)));
            if (blob.has("blob")) equal(blob.string("name"), blob.get("blob"), Bytes.base64(sealed));
        }
        int inexpressible = 0;
        Key key = named("p256 psk");
        for (Obj vector : cases(file, "headers")) {
            Optional<SealOptions> options = options(Json.parse(vector.string("header").getBytes("UTF-8")));
            if (options.isEmpty()) {
                inexpressible++;
                check(vector.string("name") + " can't be said in Java", Boolean.FALSE.equals(vector.get("valid")));
                continue;
            }
            refused(vector.string("name"), Boolean.TRUE.equals(vector.get("valid")) ? null : "invalidOption", () -> {
                options.get().within(SealOptions.LONGEST).header(key, true, "AAECAwQFBgcICQoLDA0ODw", 1);
            });
        }
        System.out.println("  headers that the types of Java can't express: " + inexpressible);
        for (Obj vector : cases(file, "payloads")) {
            String payload = vector.string("start") + vector.string("repeated").repeat((int) vector.integer("count", 0, 1_000_000)) + vector.string("end");
            // A sender cuts the spaces behind a payload, so that its own padding is all of it.
            boolean isValid = Boolean.TRUE.equals(vector.get("valid")) || vector.string("name").contains("with padding");
            refused(vector.string("name"), isValid ? null : "invalidPayload", () -> SealedBlob.ofPayload(payload));
        }
        SealedBlob blob = SealedBlob.ofPayload(PLAIN);
        equal("a short payload hides its length", 4 + 4_096 + 16, blob.bytes().length);
        SealedBlob.Attachment attachment = SealedBlob.ofFile(new byte[10]).avatar("https://a.b/c", "image/png");
        check("an avatar", attachment.isAvatar() && attachment.blob().size() == 10 && attachment.members().get("use").equals("avatar"));
        refused("a file as an offloaded payload", "invalidOption", () -> SealedBlob.ofFile(new byte[1]).offload("https://a.b/c"));
        refused("a payload as an attachment", "invalidOption", () -> blob.attachment("https://a.b/c", "image/png"));
        refused("a payload as an avatar", "invalidOption", () -> blob.avatar("https://a.b/c", "image/png"));
        SealOptions adds = SealOptions.DEFAULT.badgeAdd(1);
        String badge = "{\"aps\":{\"alert\":\"x\",\"badge\":3}}";
        refused("an offloaded payload sets the badge, and the push adds to it", "invalidPayload",
                () -> sealer(true).seal(PLAIN, recipient("p256"), PLACEHOLDER, adds.offloading(SealedBlob.ofPayload(badge).offload("https://a.b/c"))));
        refused("an offloaded payload without a badge", null, () -> sealer(true).seal(PLAIN, recipient("p256"), PLACEHOLDER, adds.offloading(blob.offload("https://a.b/c"))));
        check("fresh keys", !SealedBlob.ofFile(new byte[1]).attachment("u", "t").blob().key().equals(SealedBlob.ofFile(new byte[1]).attachment("u", "t").blob().key()));
    }

    /** The options that make such a header; none if a member has another type than they have. */
    private static Optional<SealOptions> options(Obj header) {
        SealOptions options = SealOptions.DEFAULT;
        try {
            if (header.has("test")) {
                if (!Boolean.TRUE.equals(header.get("test"))) return Optional.empty();
                options = options.selfTest();
            }
            if (header.has("attachments")) {
                List<?> items = header.list("attachments", 1, 100);
                for (Object item : items) {
                    if (((Obj) item).has("id")) ((Obj) item).string("id");
                }
                options = options.attaching(items.stream().map(item -> attachment((Obj) item)).toArray(SealedBlob.Attachment[]::new));
            }
            if (header.has("offload")) {
                Obj members = Json.object(header.get("offload"), "offload");
                options = options.offloading(new SealedBlob.Reference(members.string("url"), members.string("key"), members.integer("size", 0, Json.MAX_INTEGER), members.string("sha256")));
            }
            return Optional.of(options);
        } catch (Flaw | ClassCastException | NullPointerException e) {
            return Optional.empty();
        }
    }
}
