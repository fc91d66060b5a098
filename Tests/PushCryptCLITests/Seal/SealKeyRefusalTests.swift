import Foundation
import PushCryptCore
import Testing

@Suite("keys that seal refuses", .ownThreads)
struct SealKeyRefusalTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    @Test("with --require-psk a record without psk is refused, and one with a psk and a shared key are accepted")
    func requiredPSK() throws {
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
        "seal refuses a set whose newest key ranks below an older one unless --allow-lower-suite is given",
        .enabled(if: PushCryptCore.Suite.xWing.isAvailable, "suite 3 is unavailable: it needs OpenSSL 3.5"))
    func lowerSuiteOfXWing() throws {
        _ = try place.writeSet(
            [#""activatesAt":"2026-01-01T00:00:00Z""#, #""activatesAt":"2026-02-01T00:00:00Z""#],
            suites: ["xwing", "p256"], to: "set.json")
        expectRefusal(try place.seal(to: "set.json"), 65, saying: "ranks below")
        let sealed = try place.seal(to: "set.json", "--allow-lower-suite")
        #expect(sealed.isSuccess && !sealed.stderr.contains("no effect"), "\(sealed)")
    }

    @Test(
        "a set whose only key is retired, revoked or pending is refused",
        arguments: [
            #""activatesAt":"2026-01-01T00:00:00Z","retiresAt":"2026-03-01T09:00:00Z""#,
            #""activatesAt":"2026-01-01T00:00:00Z","revokedAt":"2026-03-01T09:00:00Z""#, "",
        ])
    func ended(_ lifecycle: String) throws {
        _ = try place.writeSet([lifecycle], to: "set.json")
        expectRefusal(try place.seal(to: "set.json"), 65, saying: "seals at")
    }

    @Test(
        "a file that isn't a key file is refused",
        arguments: [
            "", #"{"keys":[]}"#, "\u{0}\u{ff}", #"{"kty":"RSA","kid":"AAAAAAAAAAA"}"#,
        ])
    func noKeys(_ text: String) throws {
        try place.write(Data(text.utf8), to: "keys.json")
        expectRefusal(try place.seal(to: "keys.json"), 65, saying: "keys.json: ")
    }

    @Test("keys of the wrong kind are refused")
    func wrongKind() throws {
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/push", "sender")
        try place.export("Keys/push", to: "senders.json")
        expectRefusal(try place.seal(to: "Keys/push"), 65)
        expectRefusal(try place.seal(to: "senders.json"), 65)
        expectRefusal(try place.seal(to: "Keys/ios", "--sign-with", "Keys/ios"), 65)
        expectRefusal(try place.seal(to: "Keys/ios", "--sign-with", "senders.json"), 65, saying: "private key")
    }

    @Test("a set in which another key has a psk is sealed to with a note, and -q omits it")
    func lostPSK() throws {
        let names = ["p256", "p256 psk"]
        let keys = try names.map { try BatchPlace.registration($0) }.joined(separator: ",")
        let kids = try names.map { try BatchPlace.kid($0) }
        let lives = zip(kids, ["02", "01"]).map { #""\#($0)":{"activatesAt":"2026-\#($1)-01T00:00:00Z"}"# }
        let set = #"{"keys":[\#(keys)],"pushcrypt":{"seq":1,"keys":{\#(lives.joined(separator: ","))}}}"#
        try place.write(Data(set.utf8), to: "set.json")
        let output = try place.seal(to: "set.json")
        #expect(output.exit == 0, "\(output)")
        #expect(output.stderr.contains("key \(kids[0]) of set.json has no psk, and another key has one"), "\(output)")
        #expect(try place.seal(to: "set.json", "-q").stderr.isEmpty)
    }
}
