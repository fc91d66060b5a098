import Foundation
import PushCryptCore
import Testing

/// Keysets of suite 3, which need OpenSSL 3.5.
@Suite("keysets of X-Wing keys", .ownThreads)
struct XWingKeysetTests {
    private static let isAvailable = PushCryptCore.Suite.xWing.isAvailable

    @Test(
        "keys create --suite xwing without OpenSSL 3.5 exits 69, says what it needs, and creates nothing",
        .enabled(if: !isAvailable, "this OpenSSL has X-Wing"))
    func creationWithoutSupport() throws {
        let place = try Workplace()
        let output = try place.run(
            "keys", "create", "Keys/ios", "--kind", "recipient", "--suite", "xwing", "--insecure-plaintext")
        #expect(output.exit == 69 && output.stdout.isEmpty, "\(output)")
        #expect(output.stderr.contains("has no ML-KEM: suite 3 (xwing) needs OpenSSL 3.5 or later"), "\(output)")
        #expect(!place.has("Keys/ios"))
    }

    @Test(
        "keys add --suite xwing without OpenSSL 3.5 exits 69, names the keyset, says what it needs, and changes nothing",
        .enabled(if: !isAvailable, "this OpenSSL has X-Wing"))
    func additionWithoutSupport() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let before = try place.contents(of: "Keys")
        let output = try place.run("keys", "add", "Keys/ios", "--suite", "xwing", "--at", Workplace.now)
        expectRefusal(output, 69, saying: "pushcrypt: Keys/ios: OpenSSL ")
        #expect(output.stderr.contains("has no ML-KEM: suite 3 (xwing) needs OpenSSL 3.5 or later"), "\(output)")
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test(
        "seal to a record of suite 3 without OpenSSL 3.5 exits 69 and says what it needs",
        .enabled(if: !isAvailable, "this OpenSSL has X-Wing"))
    func sealingWithoutSupport() throws {
        let place = try Workplace()
        let pub = Base64URL.encode([UInt8](repeating: 9, count: 1_216))
        let record = #"{"kty":"AKP","alg":"pushcrypt-3","kid":"AAAAAAAAAAA","pub":"\#(pub)"}"#
        try place.write(Data(record.utf8), to: "to.json")
        let output = try place.seal(to: "to.json")
        #expect(output.exit == 69 && output.stdout.isEmpty, "\(output)")
        #expect(output.stderr.contains("key AAAAAAAAAAA: OpenSSL"), "\(output)")
        #expect(output.stderr.contains("has no ML-KEM: suite 3 (xwing) needs OpenSSL 3.5 or later"), "\(output)")
    }

    @Test(
        "an encrypted keyset of suite 3 is created, listed, rotated and exported, and both its keys open",
        .enabled(if: isAvailable, "suite 3 is unavailable: it needs OpenSSL 3.5"))
    func life() throws {
        let place = try Workplace()
        try place.write(Data("correct horse".utf8), to: "passphrase")
        let secret = ["--passphrase-file", "passphrase"]
        let created = try place.run(
            ["keys", "create", "Keys/ios", "--kind", "recipient", "--suite", "xwing", "--psk", "--at", Workplace.now]
                + secret)
        #expect(created.isSuccess, "\(created)")
        let first = try place.sealed(to: "Keys/ios", "--passphrase-file", "passphrase")

        let listed = try place.run(["keys", "list", "Keys/ios", "--json", "--at", Workplace.now])
        let keys = try #require(JSONSerialization.jsonObject(with: listed.stdout) as? [[String: Any]])
        #expect(keys.map { $0["suite"] as? String } == ["xwing"])

        let later = "2026-06-20T09:00:00Z"
        let rotated = try place.run(["rotate", "Keys/ios", "--at", "2026-06-01T09:00:00Z"] + secret)
        #expect(rotated.isSuccess, "\(rotated)")
        let shown = try place.run(["keys", "list", "Keys/ios", "--json", "--at", later])
        let all = try #require(JSONSerialization.jsonObject(with: shown.stdout) as? [[String: Any]])
        #expect(all.map { $0["suite"] as? String } == ["xwing", "xwing"])
        let second = try place.sealed(to: "Keys/ios", "--passphrase-file", "passphrase", "--at", later)
        #expect(try Payload.string("pushcrypt.kid", of: first) != Payload.string("pushcrypt.kid", of: second))
        let opened = try place.open(
            keys: "Keys/ios", "--passphrase-file", "passphrase", "--at", later, payload: second)
        #expect(opened.payload == Workplace.inner, "\(opened)")
        let old = try place.open(keys: "Keys/ios", "--passphrase-file", "passphrase", payload: first)
        #expect(old.payload == Workplace.inner, "\(old)")

        let pem = try place.run(["keys", "export", "Keys/ios", "--format", "pem", "--at", later] + secret)
        #expect(pem.exit == 65 && pem.stderr.contains("export it as JWK"), "\(pem)")
    }

    @Test(
        "keys add --suite xwing changes a keyset over: both keys open in the overlap, rehearse names both suites, rotate keeps the suite, and it never goes back",
        .enabled(if: isAvailable, "suite 3 is unavailable: it needs OpenSSL 3.5"))
    func changeOver() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient", "--psk")
        let old = try place.sealed(to: "Keys/ios")
        let added = try place.run("keys", "add", "Keys/ios", "--suite", "xwing", "--at", "2026-03-10T09:00:00Z")
        #expect(added.isSuccess, "\(added)")
        let later = "2026-03-20T09:00:00Z"
        let new = try place.sealed(to: "Keys/ios", "--at", later)
        #expect(new.count > old.count + 1_055)
        for payload in [old, new] {
            #expect(try place.open(keys: "Keys/ios", "--at", later, payload: payload).payload == Workplace.inner)
        }
        let fleet = ["--refresh-p50", "6h", "--refresh-p99", "20d", "--devices", "1000"]
        let rehearsed = try place.run(["keys", "rehearse", "Keys/ios"] + fleet)
        #expect(rehearsed.text.contains("\nSuites  p256 and xwing: the fleet changes over"), "\(rehearsed)")
        let object = try place.run(["keys", "rehearse", "Keys/ios", "--json"] + fleet).object()
        #expect(object["suites"] as? [String] == ["p256", "xwing"])
        let back = try place.run("keys", "add", "Keys/ios", "--suite", "p256", "--force", "--at", later)
        #expect(back.exit == 65 && back.stderr.contains("a keyset never goes back"), "\(back)")
        let rotated = try place.run("rotate", "Keys/ios", "--at", "2026-06-15T09:00:00Z")
        #expect(rotated.isSuccess, "\(rotated)")
        let listed = try place.run("keys", "list", "Keys/ios", "--json", "--at", "2026-06-15T09:00:00Z")
        let keys = try #require(JSONSerialization.jsonObject(with: listed.stdout) as? [[String: Any]])
        #expect(keys.compactMap { $0["suite"] as? String }.sorted() == ["p256", "xwing", "xwing"])
        #expect(keys.allSatisfy { $0["psk"] as? Bool == true })
    }

    @Test(
        "keys doctor names a keyset that changes over to suite 3, before and after, and counts no finding for it",
        .enabled(if: isAvailable, "suite 3 is unavailable: it needs OpenSSL 3.5"))
    func doctor() throws {
        let place = try Workplace()
        try place.write(Data("correct horse".utf8), to: "passphrase")
        let secret = ["--passphrase-file", "passphrase"]
        for path in ["Keys/ios", "Keys/other"] {
            let created = try place.run(
                ["keys", "create", path, "--kind", "recipient", "--at", Workplace.now] + secret)
            #expect(created.isSuccess, "\(created)")
        }
        func doctor(_ time: String) throws -> Output {
            try place.settle("Keys", at: Double(#require(UnixTime(rfc3339: time)).seconds))
            return try place.run("keys", "doctor", "Keys", "--at", time)
        }
        #expect(try doctor(Workplace.now).text == "2 keysets: nothing found\n")
        let added = try place.run(
            ["keys", "add", "Keys/ios", "--suite", "xwing", "--at", "2026-03-10T09:00:00Z"] + secret)
        #expect(added.isSuccess, "\(added)")
        let kid = try #require(try place.keys("Keys/ios", at: Workplace.now).last?.kid)
        #expect(
            try doctor("2026-03-10T09:00:00Z").text
                == "2 keysets: nothing found\nKeys/ios: post-quantum from when key \(kid) of suite 3 seals\n")
        let after = try doctor("2026-03-20T09:00:00Z").text
        #expect(after.hasSuffix("\nKeys/ios: post-quantum, key \(kid) of suite 3 seals\n"), "\(after)")
    }

    @Test(
        "keys coverage counts the devices that hold a key of suite 3",
        .enabled(if: isAvailable, "suite 3 is unavailable: it needs OpenSSL 3.5"))
    func coverage() throws {
        let place = try Workplace()
        let old = try place.create("Keys/ios", "recipient")
        let reports = { (kids: [String]) in
            kids.enumerated().map { #"{"device":"d\#($0)","kid":"\#($1)","seenAt":"2026-03-10T09:00:00Z"}"# + "\n" }
                .joined()
        }
        let command = ["keys", "coverage", "Keys/ios", "--reports", "-", "--at", "2026-03-10T09:00:00Z"]
        let before = try place.run(command, stdin: Data(reports([old]).utf8))
        #expect(before.isSuccess && !before.text.contains("suite 3"), "\(before)")
        let added = try place.run("keys", "add", "Keys/ios", "--suite", "xwing", "--at", "2026-03-10T09:00:00Z")
        #expect(added.isSuccess, "\(added)")
        let new = try #require(try place.keys("Keys/ios", at: Workplace.now).last?.kid)
        let all = Data(reports([old, new, new, old, new]).utf8)
        let shown = try place.run(command, stdin: all)
        #expect(
            shown.text.replacing(/\s+/, with: " ").contains(
                "3 of the seen devices hold a key of suite 3, which resists quantum computers."), "\(shown)")
        let object = try place.run(command + ["--json"], stdin: all).object()
        #expect(object["holdingSuite3"] as? Int == 3)
        let keys = try #require(object["keys"] as? [[String: Any]])
        #expect(keys.map { $0["suite"] as? String } == ["p256", "xwing"])
    }

    @Test("keys add --suite in a keyset of sender keys is refused and changes nothing")
    func suiteOfSenders() throws {
        let place = try Workplace()
        try place.create("Keys/push", "sender")
        let before = try place.read("Keys/push/keyset.json")
        let output = try place.run("keys", "add", "Keys/push", "--suite", "p256", "--at", Workplace.now)
        #expect(output.exit == 65 && output.stderr.contains("only recipient keys have a choice of suite"), "\(output)")
        #expect(try place.read("Keys/push/keyset.json") == before)
    }

    @Test(
        "a keyset's key opens the message, and a damaged message fails like those of the other suites",
        .enabled(if: isAvailable, "suite 3 is unavailable: it needs OpenSSL 3.5"))
    func damaged() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient", "--suite", "xwing")
        try place.create("Keys/other", "recipient")
        let texts = try ["Keys/ios", "Keys/other"].map { keys in
            let payload = try place.sealed(to: keys)
            let sealed = try #require(try Payload.string("pushcrypt.sealed", of: payload))
            let last = sealed.dropLast(3) + (sealed.hasSuffix("AAA") ? "BBA" : "AAA")
            let changed = String(decoding: payload, as: UTF8.self).replacing(sealed, with: String(last))
            let output = try place.open(keys: keys, payload: Data(changed.utf8))
            return "\(output.exit, default: "none") \(output.stderr.replacing(keys, with: "KEYS"))"
        }
        let kid = #/[A-Za-z0-9_-]{11}/#
        #expect(texts[0].replacing(kid, with: "KID") == texts[1].replacing(kid, with: "KID"))
    }
}
