import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct KeyRecordRoundTripTests {
    private static let halves = TestJWK.all + TestJWK.withPair.map(\.withoutPrivateKey)

    @Test("a record is written with the members that were read", arguments: halves, Backends.all)
    func writtenAsRead(jwk: TestJWK, backend: NamedBackend) throws {
        let record = try jwk.record(backend.backend)
        let written = try Self.written(record)
        #expect(try Self.members(of: written) == jwk.members)
        #expect(written.count <= KeyRecord.maximumJWKByteCount)
        #expect(record.isPrivateAsymmetric == (jwk.members["d"] != nil))
        #expect(record.hasPSK == (jwk.members["psk"] != nil))
    }

    @Test("both backends read a record as the same key", arguments: halves)
    func backendsReadAlike(jwk: TestJWK) throws {
        let written = try Backends.all.map { try Self.written(jwk.record($0.backend)) }
        #expect(written[0] == written[1])
    }

    @Test("a public record has no private half, and a psk only on request", arguments: TestJWK.all, Backends.all)
    func publicRecord(jwk: TestJWK, backend: NamedBackend) throws {
        let record = try jwk.record(backend.backend)
        let withPSK = try Self.members(of: Self.written(record.publicRecord(keepingPSK: true)))
        #expect(withPSK == jwk.withoutPrivateKey.members)
        let withoutPSK = try Self.members(of: Self.written(record.publicRecord(keepingPSK: false)))
        #expect(withoutPSK == jwk.withoutPrivateKey.with("psk", nil).members)
    }

    @Test("unknown members of a record are ignored (RFC 7517 section 4)", arguments: TestJWK.all)
    func otherMembersAreIgnored(jwk: TestJWK) throws {
        let extended = jwk.with("use", "\"enc\"").with("key_ops", "[]").with("x5c", "null").with("more", #"{"d":1}"#)
        #expect(try Self.members(of: Self.written(extended.record())) == jwk.members)
    }

    struct Kind: Sendable, CustomStringConvertible {
        let description: String
        let generate: @Sendable (NamedBackend) throws -> KeyRecord
    }

    private static let kinds = [
        Kind(description: "p256") { try .generate(.recipient, backend: $0.backend) },
        Kind(description: "p256 psk") { try .generate(.recipient, type: .p256, psk: true, backend: $0.backend) },
        Kind(description: "x25519") { try .generate(.recipient, type: .x25519, backend: $0.backend) },
        Kind(description: "x25519 psk") { try .generate(.recipient, type: .x25519, psk: true, backend: $0.backend) },
        Kind(description: "shared") { try .generate(.shared, backend: $0.backend) },
        Kind(description: "sender") { try .generate(.sender, backend: $0.backend) },
    ]

    @Test("a record that one backend generates is read by the other", arguments: kinds, Backends.all)
    func generated(kind: Kind, backend: NamedBackend) throws {
        let record = try kind.generate(backend)
        let written = try Self.written(record)
        for reader in Backends.all {
            let read = try KeyRecord(JSONText(written).root, backend: reader.backend)
            #expect(read.kid == record.kid)
            #expect(read.kind == record.kind)
            #expect(try Self.written(read) == written)
        }
        let again = try kind.generate(backend)
        #expect(again.kid != record.kid)
        #expect(try Self.members(of: Self.written(record)).keys.sorted() == Self.names(kind))
    }

    private static func names(_ kind: Kind) -> [String] {
        TestJWK.named(kind.description).members.keys.sorted()
    }

    private static func written(_ record: KeyRecord) throws -> [UInt8] {
        var output: [UInt8] = []
        try record.appendJWK(to: &output)
        return output
    }

    private static func members(of jwk: [UInt8]) throws -> [String: String] {
        let members = try JSONText(jwk).root.members.map { member in
            (member.name, String(decoding: member.value.rawBytes, as: UTF8.self))
        }
        return Dictionary(uniqueKeysWithValues: members)
    }
}
