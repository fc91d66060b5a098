import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Key sets that are read, and written and read again. `KeysetVectorTests` has the refusals.
@Suite struct KeysetJSONTests {
    private static func set(_ keys: [TestJWK], _ member: String?) -> [UInt8] {
        let list = keys.map(\.json).joined(separator: ",")
        return Array("{\"keys\":[\(list)]\(member.map { ",\"pushcrypt\":" + $0 } ?? "")}".utf8)
    }

    @Test("a whole set is read with keys, lifecycles, seq and updatedAt")
    func whole() throws {
        let (first, second) = (TestJWK.named("p256"), TestJWK.named("other p256"))
        let member = """
            {"seq": 9007199254740991, "updatedAt": "2026-03-02T00:00:00Z", "more": 1, "keys": \
            {"AAAAAAAAAAA": {}, "\(first.text("kid"))": {"createdAt": "2026-01-01T00:00:00Z", \
            "activatesAt": "2026-02-01T01:00:00+01:00", "retiresAt": "2026-03-01T00:00:00Z", \
            "expiresAt": "2026-04-01T00:00:00.9Z", "revokedAt": "2026-05-01T00:00:00Z", "x": 1}, \
            "\(second.text("kid"))": {}}}
            """
        let keyset = try Keyset(json: Self.set([first, second], member))
        #expect(keyset.kind == .recipient)
        #expect(keyset.sequence == 9_007_199_254_740_991)
        #expect(keyset.updatedAt?.description == "2026-03-02T00:00:00Z")
        #expect(keyset.keyIDs.map(\.description) == [first, second].map { $0.text("kid") })
        let lifecycle = keyset.entries[0].lifecycle
        #expect(lifecycle.createdAt?.description == "2026-01-01T00:00:00Z")
        #expect(lifecycle.activatesAt?.description == "2026-02-01T00:00:00Z")
        #expect(lifecycle.retiresAt?.description == "2026-03-01T00:00:00Z")
        #expect(lifecycle.expiresAt?.description == "2026-04-01T00:00:00Z")
        #expect(lifecycle.revokedAt?.description == "2026-05-01T00:00:00Z")
        #expect(keyset.entries[1].lifecycle == KeyLifecycle())
    }

    @Test("a single key without a lifecycle always seals and opens", arguments: TestJWK.all)
    func oneKey(jwk: TestJWK) throws {
        for json in [Array(jwk.json.utf8), Self.set([jwk], nil)] {
            let keyset = try Keyset(json: json)
            let kid = try #require(KeyID(jwk.text("kid")))
            for time in [0, 1_800_000_000, UnixTime.protocolRange.upperBound] {
                #expect(keyset.state(of: kid, at: UnixTime(time)) == .primary)
            }
        }
    }

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

    @Test("a written set is read again, and without history it has neither createdAt nor updatedAt", arguments: sets)
    func roundTrip(names: [String]) throws {
        let keyset = try Self.keyset(names)
        for withHistory in [true, false] {
            let read = try Keyset(json: keyset.jwkSet(withHistory: withHistory))
            #expect(read.sequence == 41)
            #expect(read.updatedAt == (withHistory ? UnixTime(195) : nil))
            #expect(read.keyIDs == keyset.keyIDs)
            let lifecycles = keyset.entries.map { entry in
                var lifecycle = entry.lifecycle
                if !withHistory { lifecycle.createdAt = nil }
                return lifecycle
            }
            #expect(read.entries.map(\.lifecycle) == lifecycles)
            #expect(try read.jwkSet(withHistory: withHistory) == keyset.jwkSet(withHistory: withHistory))
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
        expectKeyError(.malformed) { try Keyset([]) }
    }
}

/// The times of one key. `KeysetVectorTests` has the refusals.
@Suite struct KeyLifecycleJSONTests {
    private let kid = KeyID("AAAAAAAAAAA")!
    private static let whole = KeyLifecycle(
        createdAt: UnixTime(0), activatesAt: UnixTime(86_400), retiresAt: UnixTime(2 * 86_400),
        expiresAt: UnixTime(3 * 86_400), revokedAt: UnixTime(4 * 86_400), destroyedAt: UnixTime(5 * 86_400))

    private func read(_ text: String) throws -> KeyLifecycle {
        let json = try JSONText(Array(text.utf8))
        return try KeyLifecycle(json.root, of: kid)
    }

    @Test("a lifecycle with all times is written and read again")
    func whole() throws {
        let members = Self.whole.jsonMembers(withHistory: true)
        #expect(
            members == [
                #""createdAt": "1970-01-01T00:00:00Z""#, #""activatesAt": "1970-01-02T00:00:00Z""#,
                #""retiresAt": "1970-01-03T00:00:00Z""#, #""expiresAt": "1970-01-04T00:00:00Z""#,
                #""revokedAt": "1970-01-05T00:00:00Z""#, #""destroyedAt": "1970-01-06T00:00:00Z""#,
            ])
        #expect(try read("{" + members.joined(separator: ",") + "}") == Self.whole)
    }

    @Test("a published lifecycle has neither createdAt nor destroyedAt")
    func published() throws {
        let read = try read("{" + Self.whole.jsonMembers(withHistory: false).joined(separator: ",") + "}")
        var expected = Self.whole
        (expected.createdAt, expected.destroyedAt) = (nil, nil)
        #expect(read == expected)
    }

    @Test("an empty lifecycle is written without members and read again")
    func nothing() throws {
        #expect(KeyLifecycle().jsonMembers(withHistory: true).isEmpty)
        #expect(try read("{}") == KeyLifecycle())
        #expect(try read(#"{"suite": "p256", "unknown": 1}"#) == KeyLifecycle())
    }
}

#if DEBUG
/// Key sets from an attacker: apps and senders read sets of others.
@Suite struct HostileSetTests {
    private static func steps(keys count: Int) throws -> Int {
        let entries = try (0..<count).map { _ in
            Keyset.Entry(
                try KeyRecord.generate(.shared, backend: DefaultBackend.shared),
                KeyLifecycle(activatesAt: UnixTime(0), retiresAt: UnixTime(1)))
        }
        let json = try Keyset(entries, sequence: 1).jwkSet(withHistory: false)
        let counter = Locked(0)
        let read = try JSONSteps.$counter.withValue(counter) { try Keyset(json: json) }
        #expect(read.keyIDs == entries.map(\.record.kid))
        return counter.withLock { $0 }
    }

    @Test("a set of twice as many keys is read in twice as many steps")
    func linear() throws {
        let counts = try [400, 800].map(Self.steps)
        #expect(Double(counts[1]) < 2.1 * Double(counts[0]), "\(counts)")
    }
}
#endif
