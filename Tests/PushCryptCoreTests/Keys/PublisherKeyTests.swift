import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// A publisher's key is an Ed25519 key like a sender's. Only its role keeps them apart.
@Suite("keys of publishers") struct PublisherKeyTests {
    private func jwk(of record: KeyRecord) throws -> [UInt8] {
        var json = [UInt8]()
        try record.appendJWK(to: &json)
        return json
    }

    @Test("A new publisher's key is written with its role and read again as a publisher's", arguments: Backends.pairs)
    func roundTrip(_ pair: BackendPair) throws {
        let record = try KeyRecord.generate(.publisher, backend: pair.first)
        for (written, isPrivate) in [(record, true), (record.publicRecord(keepingPSK: false), false)] {
            let json = try jwk(of: written)
            #expect(String(decoding: json, as: UTF8.self).hasSuffix(#""role":"publisher"}"#))
            let read = try Keyset(json: json, backend: pair.second)
            #expect(read.kind == .publisher)
            #expect(read.keyIDs == [record.kid])
            #expect(read.entries[0].record.isPrivateAsymmetric == isPrivate)
            #expect(read.entries[0].record.algorithm == .publisher)
        }
    }

    @Test("A publisher's key neither signs nor verifies messages, and is no recipient: wrongKind")
    func isNoSender() throws {
        let json = try jwk(of: TestSenderSet.publisher(1))
        let publicJSON = try jwk(of: TestSenderSet.publisher(1).publicRecord(keepingPSK: false))
        expectKeyError(.wrongKind) { try SenderKey(jwk: json) }
        expectKeyError(.wrongKind) { try Keyset(json: json).senderKey(at: UnixTime(0)) }
        expectKeyError(.wrongKind) { try TrustedSenders(json: publicJSON) }
        expectKeyError(.wrongKind) { try Recipient(jwk: publicJSON) }
        expectKeyError(.wrongKind) { try RecipientKey(Keyset(json: json).entries[0]) }
    }

    @Test("A sender's key is no publisher: it can't be pinned, and it doesn't sign sets: wrongKind")
    func isNoPublisher() throws {
        let sender = try TestSenderSet.sender(1)
        expectKeyError(.wrongKind) {
            try SenderSetPins(
                publishers: [sender.publicRecord(keepingPSK: false)], set: TestSenderSet.id, epoch: 1)
        }
        expectKeyError(.wrongKind) {
            try SignedSenderSet.sign(TestSenderSet.keyset(1), TestSenderSet.publication(), by: [sender])
        }
    }

    @Test("A set of senders and publishers is refused: wrongKind")
    func mixed() throws {
        let entries = [try TestSenderSet.sender(1), try TestSenderSet.publisher(1)].map { Keyset.Entry($0, .at(0)) }
        expectKeyError(.wrongKind) { try Keyset(entries) }
    }

    @Test(
        "An Ed25519 key with another role is refused: unsupportedKey",
        arguments: WrongJSON.types + [#""sender""#, #""Publisher""#, #""""#])
    func otherRole(_ role: String) {
        expectKeyError(.unsupportedKey) { try TestJWK.named("sender").with("role", role).record() }
    }

    @Test("The role of a key that isn't Ed25519 is ignored", arguments: ["p256", "x25519", "shared"])
    func roleOfAnotherKey(_ name: String) throws {
        let plain = TestJWK.named(name)
        #expect(try plain.with("role", #""publisher""#).record().kind == plain.record().kind)
    }
}
