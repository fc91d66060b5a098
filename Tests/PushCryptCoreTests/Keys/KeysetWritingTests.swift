import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct KeysetWritingTests {
    private static let lifecycles: [KeyLifecycle] = [
        .at(100, created: 50, retires: 200, expires: 300, revoked: 250), .at(200, created: 150), .at(nil, created: 190),
    ]

    private static func keyset(_ names: [String]) throws -> Keyset {
        let entries = try zip(names, lifecycles).map { Keyset.Entry(try TestJWK.named($0).record(), $1) }
        return try Keyset(entries, sequence: 41, updatedAt: UnixTime(195))
    }

    private static let sets = [
        ["p256", "x25519", "p256 psk"], ["x25519 psk"], ["shared", "other shared"], ["device"],
        ["sender", "other sender"],
    ]

    @Test("a written private set is read again with the same content", arguments: sets)
    func privateFile(names: [String]) throws {
        let keyset = try Self.keyset(names)
        let read = try Keyset(json: keyset.jwkSet(withHistory: true))
        #expect(read.sequence == 41)
        #expect(read.updatedAt == UnixTime(195))
        #expect(read.keyIDs == keyset.keyIDs)
        #expect(read.entries.map(\.lifecycle) == keyset.entries.map(\.lifecycle))
        #expect(try read.jwkSet(withHistory: true) == keyset.jwkSet(withHistory: true))
    }

    @Test("a set without history has neither createdAt nor updatedAt", arguments: sets)
    func withoutHistory(names: [String]) throws {
        let keyset = try Self.keyset(names)
        let read = try Keyset(json: keyset.jwkSet(withHistory: false))
        #expect(read.updatedAt == nil)
        #expect(read.sequence == 41)
        for (entry, original) in zip(read.entries, keyset.entries) {
            var expected = original.lifecycle
            expected.createdAt = nil
            #expect(entry.lifecycle == expected)
        }
    }

    @Test("a published set contains neither d nor psk and marks the keys that demand a psk")
    func published() throws {
        let names = ["p256", "x25519 psk", "p256 psk"]
        let text = String(
            decoding: try Self.keyset(names).publicKeyset(keepingPSK: false).jwkSet(withHistory: false), as: UTF8.self)
        for name in names {
            let jwk = TestJWK.named(name)
            #expect(text.contains(jwk.text("x")))
            #expect(!text.contains(jwk.text("d")))
            #expect(jwk.members["psk"] == nil || !text.contains(jwk.text("psk")))
        }
        #expect(!text.contains("\"d\""))
        let read = try Keyset(json: Array(text.utf8))
        #expect(read.entries.map(\.demandsPSK) == [false, true, true])
        #expect(read.entries.map(\.record.hasPSK) == [false, false, false])
    }

    @Test("a registration record contains the psk and no private key")
    func registration() throws {
        let keyset = try Self.keyset(["x25519 psk"]).publicKeyset(keepingPSK: true)
        #expect(keyset.entries[0].record.hasPSK)
        #expect(!keyset.entries[0].record.isPrivateAsymmetric)
        #expect(keyset.updatedAt == UnixTime(195))
    }

    @Test("a filtered set contains the selected keys")
    func filtered() throws {
        let keyset = try Self.keyset(["p256", "x25519", "p256 psk"])
        let kept = try keyset.filter { $0.lifecycle.activatesAt != nil }
        #expect(kept.keyIDs == Array(keyset.keyIDs[..<2]))
        #expect(kept.sequence == 41)
        expectKeyError(.malformed) { try keyset.filter { _ in false } }
    }
}
