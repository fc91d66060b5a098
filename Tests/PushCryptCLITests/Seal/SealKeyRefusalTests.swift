import Foundation
import PushCryptCore
import Testing

@Suite("keys that seal refuses", .ownThreads)
struct SealKeyRefusalTests {
    @Test("a private key in a file is refused", arguments: ["p256", "x25519"])
    func privateKey(_ suite: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient", "--suite", suite)
        try place.write(place.privateKeys("Keys/ios"), to: "private.json")
        expectRefusal(try place.seal(to: "private.json"), 65, saying: "private key")
        #expect(try place.seal(to: "Keys/ios").isSuccess)
    }

    @Test("a public set whose key requires a missing psk is refused", arguments: ["p256", "x25519"])
    func missingPSK(_ suite: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient", "--suite", suite, "--psk")
        try place.export("Keys/ios", to: "set.json")
        expectRefusal(try place.seal(to: "set.json"), 65, saying: "demands a psk")
    }

    @Test("with --require-psk a record without psk is refused, and one with a psk and a shared key are accepted")
    func requiredPSK() throws {
        let place = try Workplace()
        for (path, options) in [("Keys/plain", []), ("Keys/psk", ["--psk"])] {
            _ = try place.create(path, "recipient", options, at: Workplace.now)
            try place.write(Data(place.publicJWK(path).utf8), to: path + ".json", mode: 0o600)
        }
        try place.create("Keys/fleet", "shared")
        for path in ["Keys/plain", "Keys/plain.json"] {
            expectRefusal(
                try place.seal(to: path, "--require-psk"), 65,
                saying: "has no psk: everyone with the public key could seal to it")
            #expect(try place.seal(to: path).isSuccess)
        }
        for path in ["Keys/psk", "Keys/psk.json", "Keys/fleet"] {
            #expect(try place.seal(to: path, "--require-psk").isSuccess)
        }
    }

    @Test("seal --minimum-suite xwing refuses suites 1 and 2 with exit status 65, and accepts a shared key")
    func minimumSuite() throws {
        let place = try Workplace()
        try place.create("Keys/fleet", "shared")
        #expect(try place.seal(to: "Keys/fleet", "--minimum-suite", "xwing").isSuccess)
        for suite in ["p256", "x25519"] {
            let kid = try place.create("Keys/\(suite)", "recipient", "--suite", suite)
            let output = try place.seal(to: "Keys/\(suite)", "--minimum-suite", "xwing")
            expectRefusal(output, 65, saying: "Keys/\(suite): key \(kid) has suite ")
            #expect(output.stderr.contains("at least suite 3 (HPKE X-Wing, AES-256-GCM) is required"), "\(output)")
            #expect(try place.seal(to: "Keys/\(suite)").isSuccess)
        }
    }

    @Test(
        "seal --minimum-suite xwing accepts a key of suite 3, and a keyset that waits for its suite 3 key is refused until then",
        .enabled(if: PushCryptCore.Suite.xWing.isAvailable, "suite 3 is unavailable: it needs OpenSSL 3.5"))
    func minimumSuiteOfXWing() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.succeed("rotate", "Keys/ios", "--now", "--suite", "xwing")
        expectRefusal(try place.seal(to: "Keys/ios", "--minimum-suite", "xwing"), 65, saying: "has suite 1 (")
        let later = try place.seal(to: "Keys/ios", "--minimum-suite", "xwing", "--at", "2026-03-20T09:00:00Z")
        #expect(later.isSuccess, "\(later)")
    }

    @Test(
        "seal refuses a set whose newest key ranks below an older one unless --allow-lower-suite is given",
        .enabled(if: PushCryptCore.Suite.xWing.isAvailable, "suite 3 is unavailable: it needs OpenSSL 3.5"))
    func lowerSuiteOfXWing() throws {
        let place = try Workplace()
        _ = try place.writeSet(
            [#""activatesAt":"2026-01-01T00:00:00Z""#, #""activatesAt":"2026-02-01T00:00:00Z""#],
            suites: ["xwing", "p256"], to: "set.json")
        expectRefusal(try place.seal(to: "set.json"), 65, saying: "ranks below")
        let sealed = try place.seal(to: "set.json", "--allow-lower-suite")
        #expect(sealed.isSuccess && !sealed.stderr.contains("no effect"), "\(sealed)")
    }

    @Test("a set without an active key is refused")
    func noKeySeals() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.export("Keys/ios", to: "set.json")
        #expect(try place.seal(to: "set.json").isSuccess)
        expectRefusal(
            try place.seal(to: "set.json", "--at", "2026-03-01T08:59:59Z"), 65, saying: "seals at 2026-03-01T08:59:59Z")
    }

    @Test(
        "a set whose only key is retired, expired, revoked or pending is refused",
        arguments: [
            #""activatesAt":"2026-01-01T00:00:00Z","retiresAt":"2026-03-01T09:00:00Z""#,
            #""activatesAt":"2026-01-01T00:00:00Z","expiresAt":"2026-03-01T09:00:00Z""#,
            #""activatesAt":"2026-01-01T00:00:00Z","revokedAt":"2026-03-01T09:00:00Z""#,
            "",
        ])
    func ended(_ lifecycle: String) throws {
        let place = try Workplace()
        _ = try place.writeSet([lifecycle], to: "set.json")
        expectRefusal(try place.seal(to: "set.json"), 65, saying: "seals at")
    }

    @Test("seal uses the primary of several keys")
    func primary() throws {
        let place = try Workplace()
        let kids = try place.writeSet(
            [#""activatesAt":"2026-01-01T00:00:00Z""#, #""activatesAt":"2026-02-01T00:00:00Z""#, ""], to: "set.json")
        #expect(try Payload.string("pushcrypt.kid", of: try place.sealed(to: "set.json")) == kids[1])
    }

    @Test("two keys without lifecycle members are refused")
    func twoKeys() throws {
        let place = try Workplace()
        try place.create("Keys/a", "recipient")
        try place.create("Keys/b", "recipient")
        let keys = try ["Keys/a", "Keys/b"].map(place.publicJWK).joined(separator: ",")
        try place.write(Data(#"{"keys":[\#(keys)]}"#.utf8), to: "set.json")
        expectRefusal(try place.seal(to: "set.json"), 65, saying: "needs a pushcrypt member")
        try place.write(Data(#"{"keys":[\#(try place.publicJWK("Keys/a"))]}"#.utf8), to: "one.json")
        #expect(try place.seal(to: "one.json").isSuccess)
    }

    @Test(
        "a file that isn't a key file is refused",
        arguments: [
            "", "{}", "[]", "null", #"{"keys":[]}"#, #"{"keys":{}}"#, "\u{0}\u{ff}",
            #"{"kty":"RSA","kid":"AAAAAAAAAAA"}"#,
        ])
    func noKeys(_ text: String) throws {
        let place = try Workplace()
        try place.write(Data(text.utf8), to: "keys.json")
        expectRefusal(try place.seal(to: "keys.json"), 65, saying: "keys.json: ")
    }

    @Test("a missing file or keyset is refused", arguments: ["none.json", "none/keys.json", "text/keys.json"])
    func missing(_ path: String) throws {
        let place = try Workplace()
        try place.write(Data("text".utf8), to: "text")
        try place.makeFolder("Keys")
        expectRefusal(try place.seal(to: path), 66, saying: path)
    }

    @Test("keys of the wrong kind are refused")
    func wrongKind() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/push", "sender")
        try place.export("Keys/push", to: "senders.json")
        expectRefusal(try place.seal(to: "Keys/push"), 65)
        expectRefusal(try place.seal(to: "senders.json"), 65)
        expectRefusal(try place.seal(to: "Keys/ios", "--sign-with", "Keys/ios"), 65)
        expectRefusal(try place.seal(to: "Keys/ios", "--sign-with", "senders.json"), 65, saying: "private key")
    }

    @Test("a key of another device and a damaged device id are refused")
    func device() throws {
        let place = try Workplace()
        try place.create("Keys/master", "shared")
        let set = try place.export("Keys/master", to: "device.json", "--device", "one")
        #expect(try place.seal(to: "device.json", "--device", "one").isSuccess)
        expectRefusal(try place.seal(to: "device.json", "--device", "two"), 65)
        try place.write(Payload.replacing(#""one""#, with: #""o n e""#, in: set), to: "bad.json")
        expectRefusal(try place.seal(to: "bad.json"), 65, saying: "bad.json: ")
    }

    @Test("a kid that doesn't match the key is refused")
    func kidMismatch() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient")
        let set = try place.export("Keys/ios", to: "set.json")
        try place.write(Payload.replacing(kid, with: "AAAAAAAAAAA", in: set), to: "set.json")
        expectRefusal(try place.seal(to: "set.json"), 65, saying: "thumbprint")
    }
}
