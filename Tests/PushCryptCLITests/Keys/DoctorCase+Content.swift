import Foundation
import PushCryptCore
import PushCryptPrimitives
import Testing

extension DoctorCase {
    static let keyset = "Keys/ios/keyset.json"

    static let keysets = [
        DoctorCase(
            code: "missing", severity: "error", testDescription: "a keyset whose file is gone",
            words: "there is no keyset.json", advice: "pushcrypt keys restore --from FILE Keys/ios"
        ) { try $0.remove(keyset) },
        DoctorCase(
            code: "damaged", severity: "error", testDescription: "a changed byte", words: "doesn't match its digest",
            advice: "pushcrypt keys restore --from FILE Keys/ios"
        ) { place in
            let text = String(decoding: try place.read(keyset), as: UTF8.self)
            try place.write(Data(text.replacing("\"seq\": 1", with: "\"seq\": 3").utf8), to: keyset)
        },
        DoctorCase(
            code: "malformed", severity: "error", testDescription: "a file that isn't a keyset",
            words: "not a JSON text",
            advice: "pushcrypt keys restore --from FILE Keys/ios"
        ) { try $0.write(Data("{".utf8), to: keyset) },
        DoctorCase(
            code: "malformed", severity: "error", testDescription: "a folder in place of a keyset",
            words: "is not a file", advice: "pushcrypt keys restore --from FILE Keys/ios", others: ["foreign-file"]
        ) {
            try $0.remove(keyset)
            try $0.makeFolder(keyset)
        },
        DoctorCase(
            code: "demo-keys", severity: "warning", testDescription: "the demo keys",
            words: "published with pushcrypt and protect nothing", advice: "only for the demo",
            others: ["demo-keys", "demo-keys"]
        ) { try $0.copyDemoKeys() },
        DoctorCase(
            code: "demo-keys", severity: "error", testDescription: "a demo key among others",
            words: "some of the keys are published", advice: "# create another keyset",
            others: ["no-digest", "public-differs"]
        ) { place in
            let demo = try String(
                contentsOf: Repository.root.appending(path: "Keys/demo/recipient/keyset.json"), encoding: .utf8)
            let key = try #require(demo.firstMatch(of: /\{"kty".*\}/)?.0)
            try place.edit(keyset) { text in
                text.replacing("\"keys\": [", with: "\"keys\": [\(key),")
                    .replacing(
                        "\"keys\": {",
                        with:
                            "\"keys\": {\"nMfbZ7h-wC0\": {\"activatesAt\": \"2026-01-01T00:00:00Z\", \"retiresAt\": \"2026-02-01T00:00:00Z\"},"
                    )
            }
        },
    ]

    static let contents = [
        DoctorCase(
            code: "no-digest", severity: "note", testDescription: "no digest", words: "has no digest",
            advice: "the next change adds one"
        ) { try $0.edit(keyset) { $0 + " " } },
        unknown("at the root", "colour", "{\n  \"keys\"", "{\"colour\": 1, \"keys\""),
        unknown("beside the lifecycles", "pushcrypt.colour", "\"seq\": 1", "\"seq\": 1, \"colour\": 1"),
        unknown("in a lifecycle", "pushcrypt.keys.", "\"createdAt\"", "\"colour\": 1, \"createdAt\""),
        unknown("in the policy", "pushcrypt.policy.colour", "\"keep\": 2", "\"keep\": 2, \"colour\": 1"),
        unknown("in a key", "keys[0].colour", "{\"kty\"", "{\"colour\":1,\"kty\""),
        unknown("in the record of the log", "pushcrypt.audit.colour", "\"count\"", "\"colour\": 1, \"count\""),
        DoctorCase(
            code: "weak-scrypt", severity: "warning", testDescription: "a passphrase that is cheap to guess",
            words: "scrypt with N 1024, r 8, p 1", advice: "pushcrypt keys passwd Keys/ios"
        ) { place in
            try place.remove("Keys/ios")
            try place.createEncrypted("Keys/ios", .recipient)
        },
        DoctorCase(
            code: "unknown-member", severity: "warning", testDescription: "unknown members beside encrypted keys",
            words: "no command reads sealed.colour in keyset.json", advice: "save it in another place",
            others: ["unknown-member", "unknown-member", "no-digest"]
        ) { place in
            try place.remove("Keys/ios")
            try place.createEncrypted("Keys/ios", .recipient, scrypt: .standard)
            try place.edit(keyset) { text in
                text.replacing("{\"v\": 1", with: "{\"colour\": 1, \"v\": 1")
                    .replacing("\"salt\"", with: "\"pepper\": 1, \"salt\"")
                    .replacing("{\n  \"sealed\"", with: "{\"flavour\": [], \"sealed\"")
            }
        },
    ]

    private static func unknown(_ place: String, _ path: String, _ old: String, _ new: String) -> DoctorCase {
        DoctorCase(
            code: "unknown-member", severity: "warning", testDescription: "an unknown member \(place)", words: path,
            advice: "save it in another place: the next change writes the file without it", others: ["no-digest"]
        ) { try $0.edit(keyset) { $0.replacing(old, with: new) } }
    }

    static let lifecycles = [
        DoctorCase(
            code: "no-sealing-key", severity: "error", testDescription: "no key that seals",
            words: "no key seals at 2026-03-01T09:00:00Z", advice: "pushcrypt rotate Keys/ios",
            others: ["no-digest", "public-differs", "rotation-due"]
        ) { try $0.edit(keyset) { $0.replacing("\"activatesAt\": \"2026-03-01T09:00:00Z\", ", with: "") } },
        DoctorCase(
            code: "lives", severity: "error", testDescription: "a key that expires too early",
            words: "while pushes are on their way", advice: "pushcrypt keys list Keys/ios",
            others: ["no-digest", "unfinished"]
        ) { place in
            let set = try place.read("Keys/ios/public.jwks.json")
            try place.succeed("keys", "add", "Keys/ios")
            try place.edit(keyset) {
                $0.replacing(/"expiresAt": "[^"]*"/, with: "\"expiresAt\": \"2026-03-20T09:00:00Z\"")
            }
            try place.write(set, to: "Keys/ios/public.jwks.json", mode: 0o644)
        },
        DoctorCase(
            code: "expired", severity: "warning", testDescription: "a key that opens nothing any more",
            words: "and its material is still there", advice: "pushcrypt keys prune Keys/ios",
            others: ["rotation-overdue"], time: Workplace.later(110 * Workplace.days)
        ) { try $0.succeed("keys", "add", "Keys/ios") },
        DoctorCase(
            code: "revoked", severity: "warning", testDescription: "the material of a key that was revoked long ago",
            words: "was revoked at 2026-03-01T09:00:00Z, and its material, which nothing has needed "
                + "since 2026-05-30T09:10:00Z, is still there",
            advice: "pushcrypt keys prune Keys/ios", others: ["rotation-overdue"],
            time: Workplace.later(92 * Workplace.days)
        ) { place in
            let kid = try place.keys("Keys/ios", at: Workplace.now)[0].kid
            try place.succeed("keys", "revoke", "Keys/ios", kid, "--yes")
        },
        DoctorCase(
            code: "revoked", severity: "note", testDescription: "a revoked key on the day that it can be destroyed",
            words: "was revoked at 2026-03-01T09:00:00Z, and its material",
            advice: "pushcrypt keys prune Keys/ios", others: ["rotation-overdue"],
            time: Workplace.later(90 * Workplace.days + 3_600)
        ) { place in
            let kid = try place.keys("Keys/ios", at: Workplace.now)[0].kid
            try place.succeed("keys", "revoke", "Keys/ios", kid, "--yes")
        },
        DoctorCase(
            code: "expiring", severity: "note", testDescription: "a key in its last week",
            words: "opens until 2026-06-06T09:10:00Z", advice: "unless devices still lack its successor",
            others: ["rotation-overdue"], time: Workplace.later(96 * Workplace.days)
        ) { try $0.succeed("keys", "add", "Keys/ios") },
        DoctorCase(
            code: "no-publish-lead", severity: "warning", testDescription: "a policy without a lead",
            words: "publishLead is 0", advice: "pushcrypt keys policy --publish-lead 7d Keys/ios"
        ) { try $0.succeed("keys", "policy", "Keys/ios", "--publish-lead", "0s") },
        DoctorCase(
            code: "rotation-due", severity: "note", testDescription: "a rotation that is due today",
            words: "it has been due since 2026-05-23T09:00:00Z to add the next key",
            advice: "pushcrypt rotate Keys/ios",
            time: Workplace.later(83 * Workplace.days + 3_600)
        ) { _ in },
        DoctorCase(
            code: "rotation-overdue", severity: "warning", testDescription: "a rotation that is a week overdue",
            words: "it has been due since 2026-05-23T09:00:00Z to add the next key",
            advice: "pushcrypt rotate Keys/ios",
            time: Workplace.later(90 * Workplace.days)
        ) { _ in },
        DoctorCase(
            code: "rotation-blocked", severity: "warning", testDescription: "a promotion that waits for reports",
            words: "blocked: ", advice: "pushcrypt rotate --dry-run Keys/ios",
            time: Workplace.later(8 * Workplace.days)
        ) { place in
            try place.succeed("keys", "policy", "Keys/ios", "--require-coverage", "99%")
            try place.succeed("keys", "add", "Keys/ios")
        },
    ]

    static let times = [
        DoctorCase(
            code: "clock", severity: "error", testDescription: "a clock before the last change",
            words: "before the last change at 2026-03-01T09:00:00Z", advice: "date -u",
            others: ["future-file"], time: Workplace.later(-3600)
        ) { _ in },
        DoctorCase(
            code: "clock", severity: "warning", testDescription: "a clock far after the last change",
            words: "more than 400d after the last change",
            advice: "pushcrypt rotate Keys/ios --confirm-clock  # if `date -u` prints the right time; otherwise set "
                + "the clock",
            others: ["rotation-blocked"],
            time: Workplace.later(401 * Workplace.days)
        ) { _ in },
        DoctorCase(
            code: "future-file", severity: "warning", testDescription: "a file from the future",
            words: "public.jwks.json was written at 2026-03-01T09:10:01Z, and the time is 2026-03-01T09:00:00Z",
            advice: "touch Keys/ios/public.jwks.json  # if `date -u` prints the right time, or wait until "
                + "2026-03-01T09:00:01Z; otherwise correct the clock",
            settles: false
        ) { place in
            try place.settle("Keys")
            try place.setWritten(at: 1_772_355_600 + 601, "Keys/ios/public.jwks.json")
        },
        DoctorCase(
            code: "future-file", severity: "warning", testDescription: "three files from the future",
            words: "3 files were written in the future, the last one, keyset.json, at 2026-03-02T09:00:00Z, and "
                + "the time is 2026-03-01T09:00:00Z",
            advice: "touch Keys/ios Keys/ios/audit.jsonl Keys/ios/keyset.json  # if `date -u` prints the right time, "
                + "or wait until 2026-03-02T08:50:00Z; otherwise correct the clock",
            settles: false
        ) { place in
            try place.settle("Keys")
            for (name, delay) in [(".", 700.0), ("audit.jsonl", 3_600), ("keyset.json", 86_400)] {
                try place.setWritten(at: 1_772_355_600 + delay, "Keys/ios/\(name)")
            }
        },
        DoctorCase(
            code: "clock-skew", severity: "warning", testDescription: "a file that is older than its last change",
            words: "but its last change is dated 2026-03-01T09:00:00Z", advice: "date -u", settles: false
        ) { try $0.settle("Keys", at: 1_772_355_600 - 601) },
    ]
}
