package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;
import static io.github.pushcrypt.SealingTests.*;

import io.github.pushcrypt.Json.Obj;
import java.time.Instant;
import java.util.*;

/** Registrations and challenges: sender-refusals-v1.json and possession-v1.json. */
final class RegistrationTests {
    private RegistrationTests() {}

    private static Registration.Row row(Obj members) {
        return new Registration.Row(Registration.fromJson(members.string("record")), members.string("account"), members.string("deviceToken"), null);
    }

    static void run() throws Exception {
        Obj file = vectors("sender-refusals-v1.json");
        for (Obj one : cases(file, "register")) {
            Registration.Demand[] demands = one.list("requiring", 0, 2).stream().map(name -> Registration.Demand.valueOf(name.toString().toUpperCase())).toArray(Registration.Demand[]::new);
            equal(one.string("name"), one.get("failure"), code(() -> Registration.fromJson(one.string("record"), demands)));
        }
        for (Obj one : cases(file, "store")) {
            equal(one.string("name"), one.get("failure"), code(() -> {
                List<Registration.Row> rows = one.list("stored", 0, 9).stream().map(row -> row((Obj) row)).toList();
                Registration.Change change = Registration.Change.storing(row((Obj) one.get("upload")), rows, Boolean.TRUE.equals(one.get("isProven")), Boolean.TRUE.equals(one.get("allowsLowerSuite")));
                equal(one.string("name") + ": written", one.get("isWritten"), change.isWritten());
                equal(one.string("name") + ": removed", one.list("removed", 0, 9), change.removed());
            }));
        }
        for (Obj one : cases(file, "challenge")) {
            equal(one.string("name"), one.get("failure"), code(() -> sealer(true).challenge(Registration.fromJson(one.string("record")), one.string("host"))));
        }
        Obj possession = vectors("possession-v1.json"), stored = (Obj) possession.get("pending");
        Challenge.Pending pending = new Challenge.Pending(stored.string("registration"), Registration.fromJson(stored.string("record")), stored.string("codeDigest"), stored.integer("challengedAt", 0, Json.MAX_INTEGER));
        byte[] code = Challenge.code(stored.bytes("nonce", 32), stored.string("host"), pending.id(), stored.string("record"));
        equal("the digest of the code", pending.codeDigest(), Bytes.base64(Bytes.sha256(code)));
        Challenge.Pending again = Challenge.Pending.fromJson(pending.toJson());
        check("a pending registration is stored", again.equals(pending));
        for (Obj one : cases(possession, "answers")) {
            Instant at = Instant.ofEpochSecond(one.integer("at", 0, Json.MAX_INTEGER));
            equal(one.string("name"), one.get("failure"), code(() -> check("the registration", again.confirm(one.string("answer"), at).equals(pending.registration()))));
        }
        checkVectors(cases(possession, "challenges"));
        String text = pending.toJson();
        for (String wrong : List.of(text.replace("\"version\":1,\"id\"", "\"version\":2,\"id\""), text.replace("\"version\":1,\"kid\"", "\"version\":2,\"kid\""), text.replace(pending.registration().kid(), "AAAAAAAAAAA"),
                text.replace("\"hasPSK\":true", "\"hasPSK\":false"), text.replace(pending.codeDigest(), "AAAA"), text.replace("1800000000", "-1"), text.replace("\"id\":\"", "\"id\":\" "), "{}", "")) {
            check("a stored text that was changed", code(() -> Challenge.Pending.fromJson(wrong)) != null && !wrong.equals(text));
        }
        String lost = text.replaceFirst(",\\s*\\\\\"psk\\\\\":\\s*\\\\\"[A-Za-z0-9_-]*\\\\\"", "").replaceFirst("\\\\\"psk\\\\\":\\s*\\\\\"[A-Za-z0-9_-]*\\\\\",\\s*", "");
        if (!lost.equals(text)) refused("a record that lost its psk", "pskMissing", () -> Challenge.Pending.fromJson(lost));
        check("the psk was there to lose", !lost.equals(text));
        checkChallenges();
    }

    /** Challenges that a device answers: they bind what this package binds. */
    private static void checkVectors(List<Obj> challenges) throws Exception {
        int count = 0;
        for (Obj one : challenges) {
            if (one.get("answer") == null || one.string("keyset").contains("AKP")) continue;
            Obj challenge = Json.parse(one.string("challenge").getBytes("UTF-8"));
            Key key = find(one.string("keyset"), challenge.get("kid")), sender = challenge.has("skid") ? find(one.string("senders"), challenge.get("skid")) : null;
            byte[] nonce = TestOpener.open(key, sender, one.string("topic"), challenge.bytes("sealed", 0), true);
            byte[] code = Challenge.code(nonce, one.string("host"), challenge.string("registration"), one.string("record"));
            equal(one.string("name"), Json.parse(one.string("answer").getBytes()).get("answer"), Bytes.base64(code));
            count++;
        }
        check("challenges with an answer: " + count, count > 15);
    }

    private static Key find(String keyset, Object kid) {
        return Keyset.fromJson(keyset).entries.stream().map(Keyset.Entry::key).filter(key -> key.kid().equals(kid)).findFirst().orElseThrow();
    }

    /** A device answers what a sealer made; an answer for another host, record or topic is wrong. */
    private static void checkChallenges() throws Exception {
        for (String name : List.of("p256", "p256 psk", "x25519 psk", "shared", "device")) {
            for (boolean isSigned : new boolean[] {false, true}) {
                Registration registration = Registration.fromJson(recipient(name).toJwk());
                Challenge challenge = sealer(isSigned).challenge(registration, "push.example.com");
                Obj json = Json.parse(challenge.json().getBytes());
                equal("its members", isSigned ? 5 : 4, json.size());
                byte[] nonce = TestOpener.open(named(name), isSigned ? named("sender") : null, TOPIC, json.bytes("sealed", 0), true);
                equal("its nonce", 32, nonce.length);
                String answer = Json.write(Map.of("registration", json.string("registration"), "answer", Bytes.base64(Challenge.code(nonce, "push.example.com", json.string("registration"), registration.record()))));
                equal("whose answer", challenge.pending().id(), Challenge.Pending.idOf(answer));
                refused("the answer", null, () -> challenge.pending().confirm(answer, Instant.ofEpochSecond(AT + 600)));
                String other = Json.write(Map.of("registration", json.string("registration"), "answer", Bytes.base64(Challenge.code(nonce, "push.example.org", json.string("registration"), registration.record()))));
                refused("another host", "possessionNotProven", () -> challenge.pending().confirm(other, Instant.ofEpochSecond(AT)));
                check("the store doesn't have the code", !challenge.pending().toJson().contains(Bytes.base64(nonce)));
            }
        }
    }
}
