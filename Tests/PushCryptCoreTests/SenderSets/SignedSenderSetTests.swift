import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct SignedSenderSetTests {
    private func publicRecords(_ records: [KeyRecord]) -> [KeyRecord] {
        records.map { $0.publicRecord(keepingPSK: false) }
    }

    @Test("A signed set is verified with the public key of each of its publishers", arguments: Backends.pairs)
    func roundTrip(_ pair: BackendPair) throws {
        let publishers = try (1...8).map { try TestSenderSet.publisher($0, pair.first) }
        let publication = try TestSenderSet.publication(topics: ["com.example.app", "com.example.other"], sequence: 9)
        let keyset = try TestSenderSet.keyset(3, .at(0, revoked: 5))
        let document = try SignedSenderSet.sign(keyset, publication, by: publishers, backend: pair.first)
        for publisher in try (1...8).map({ try TestSenderSet.publisher($0, pair.second) }) {
            let set = try SignedSenderSet.verify(document, publishers: publicRecords([publisher]), backend: pair.second)
            #expect(set.publication == publication)
            #expect(set.signedBy == publisher.kid)
            #expect(Set(set.keyset.keyIDs) == Set(keyset.keyIDs))
            #expect(set.keyset.sequence == 9)
            #expect(try set.revoked == Set(keyset.entries.map { try $0.record.thumbprint() }))
        }
    }

    @Test("The same keys, publication and publishers in any order give the same bytes, on both backends")
    func deterministic() throws {
        let publication = try TestSenderSet.publication()
        let documents = try Backends.all.map { named in
            let publishers = try (1...3).map { try TestSenderSet.publisher($0, named.backend) }
            return try SignedSenderSet.sign(
                TestSenderSet.keyset(3), publication, by: publishers, backend: named.backend)
        }
        let keyset = try TestSenderSet.keyset(3)
        let reversed = try SignedSenderSet.sign(
            Keyset(keyset.entries.reversed()), publication,
            by: (1...3).reversed().map { try TestSenderSet.publisher($0) })
        #expect(Set(documents + [reversed]).count == 1)
    }

    @Test("Only public keys of senders are signed, and only with private keys of publishers")
    func kinds() throws {
        func keyset(_ record: KeyRecord) throws -> Keyset { try Keyset([Keyset.Entry(record, .at(0))]) }
        func named(_ name: String) throws -> Keyset { try TestJWK.named(name).withoutPrivateKey.keyset() }
        let publisher = try TestSenderSet.publisher(1)
        let published = publisher.publicRecord(keepingPSK: false)
        guard case .publisher(let key, _) = publisher.material else { return }
        let asSender = try KeyRecord(.sender(publicKey: key, privateKey: nil), backend: DefaultBackend.shared)
        #expect(asSender.kid == publisher.kid)
        let (sender, set) = (try TestSenderSet.sender(9), try TestSenderSet.keyset(1))
        let cases: [(String, Keyset, [KeyRecord])] = [
            ("a private sender key", try keyset(sender), [publisher]),
            ("a P-256 key", try named("p256"), [publisher]),
            ("an X25519 key", try named("x25519"), [publisher]),
            ("a shared key", try named("shared"), [publisher]),
            ("the publisher's own key as a sender's", try keyset(asSender), [publisher]),
            ("the publisher's own key", try keyset(published), [publisher]),
            ("a sender signs, too", set, [publisher, sender]),
            ("a public key signs, too", set, [publisher, published]),
        ]
        for (name, keyset, signers) in cases {
            expectKeyError(.wrongKind, "\(name)") {
                try SignedSenderSet.sign(keyset, TestSenderSet.publication(), by: signers)
            }
        }
        let error = #expect(throws: KeyError.self) {
            try SignedSenderSet.sign(set, TestSenderSet.publication(), by: [])
        }
        #expect(error?.code == .notSigned)
        #expect(error?.reason == "no publisher key signs the set: add a key to the publisher keyset")
    }

    @Test("64 keys and 8 publishers sign, 65 keys or 9 publishers throw tooLarge")
    func limits() throws {
        let publication = try TestSenderSet.publication()
        let publishers = try (1...9).map { try TestSenderSet.publisher($0) }
        _ = try SignedSenderSet.sign(TestSenderSet.keyset(64), publication, by: Array(publishers[..<8]))
        expectKeyError(.tooLarge) {
            try SignedSenderSet.sign(TestSenderSet.keyset(65), publication, by: Array(publishers[..<1]))
        }
        expectKeyError(.tooLarge) { try SignedSenderSet.sign(TestSenderSet.keyset(1), publication, by: publishers) }
    }

    @Test("A publication after the year 9999 is refused before it is signed, as those that the vectors refuse")
    func publications() throws {
        let last = UnixTime.rfc3339Range.upperBound
        expectKeyError(.malformed) { try TestSenderSet.publication(issuedAt: last, validUntil: last + 1) }
        expectKeyError(.malformed) { try TestSenderSet.publication(topics: []) }
    }

    @Test("A document with any of its bits changed is refused")
    func flippedBits() throws {
        let publisher = try TestSenderSet.publisher(1)
        let publishers = publicRecords([publisher])
        let document = try SignedSenderSet.sign(TestSenderSet.keyset(1), TestSenderSet.publication(), by: [publisher])
        _ = try SignedSenderSet.verify(document, publishers: publishers)
        for bit in stride(from: 0, to: document.count * 8, by: LongTests.value(1, short: 31)) {
            var changed = document
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: KeyError.self, "bit \(bit)") {
                try SignedSenderSet.verify(changed, publishers: publishers)
            }
        }
    }

    @Test("4,096 revoked keys of an epoch are remembered, and a set with one more throws tooLarge")
    func revokedKeys() throws {
        let publisher = try TestSenderSet.publisher(1)
        let pins = try SenderSetPins(publishers: publicRecords([publisher]), set: TestSenderSet.id, epoch: 1)
        var random = SplitMix64(seed: 1)
        let known = Set((0..<4_095).map { _ in random.bytes(32) })
        let stored = SenderSetState(epoch: 1, sequence: 1, digest: random.bytes(32), revoked: known)
        for (count, code) in [(1, nil), (2, KeyError.Code.tooLarge)] {
            let document = try SignedSenderSet.sign(
                TestSenderSet.keyset(count, .at(0, revoked: 1)), TestSenderSet.publication(sequence: 2), by: [publisher]
            )
            let set = try SignedSenderSet.verify(document, publishers: pins.publishers)
            func accept() throws -> SenderSetState {
                try SenderSetState(
                    accepting: set, pins: pins, topic: try Topic(TestSenderSet.topic), stored: stored,
                    at: TestSenderSet.now)
            }
            if let code { expectKeyError(code) { try accept() } } else { #expect(try accept().revoked.count == 4_096) }
        }
    }

    @Test(
        "A set is expiring below a third of its validity and expired from validUntil on",
        arguments: [
            (0, .valid), (40, .valid), (40 + 1, .expiring), (60 - 1, .expiring), (60, .expired), (600, .expired),
        ] as [(Int64, SenderSetPublication.Condition)])
    func condition(_ seconds: Int64, _ expected: SenderSetPublication.Condition) throws {
        let set = try TestSenderSet.publication(validUntil: TestSenderSet.now + 60)
        #expect(set.condition(at: TestSenderSet.now + seconds) == expected)
    }
}
