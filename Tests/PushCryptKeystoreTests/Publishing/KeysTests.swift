import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptLives

@Suite("What the verbs of keys change") struct KeysTests {
    private static let parameters = try! ScryptParameters(n: 1_024, r: 8, p: 1)
    private static let (first, second) = (SecretName("first")!, SecretName("second")!)

    private static func secret(_ text: String) -> KeysetSecret {
        .passphrase(SecretBytes(copying: Array(text.utf8).bytes))
    }

    private static func record(_ kind: KeyKind) throws -> KeyRecord {
        try KeyRecord.generate(kind, backend: DefaultBackend.shared)
    }

    private static func opens(_ keyset: OpenedKeyset, _ text: String) throws -> Bool {
        let rows = try KeysetRows(keyset.material.file(keyset.log))
        do {
            _ = try rows.unlocked(secret(text))
            return true
        } catch let error as KeysetLogError where error.code == .wrongSecret { return false }
    }

    @Test func `Each change of the secrets is a line with their names, and a removed one opens no later file`() throws {
        let place = try PublishingPlace()
        func change(_ change: SecretChange, _ others: String...) throws -> OpenedKeyset {
            try place.host().changeSecrets(
                PublishingPlace.path, change, others: others.map(Self.secret), Self.parameters)
        }
        #expect(throws: KeystoreRefusal.unknownSecret(Self.first, among: [])) { try change(.remove(Self.first)) }
        var keyset = try change(.set(Self.first, Self.secret("one")))
        #expect(keyset.state.secrets == [Self.first])
        #expect(try Self.opens(keyset, "one") && !Self.opens(keyset, "two"))
        keyset = try change(.add(Self.second, Self.secret("two")))
        #expect(try Self.opens(keyset, "one") && Self.opens(keyset, "two"))
        let mac = keyset.history().mac
        #expect(throws: KeystoreRefusal.secretsNeeded([Self.first])) { try change(.remove(Self.second)) }
        #expect(place.log.state.secrets == [Self.first, Self.second])
        keyset = try change(.remove(Self.first), "two")
        #expect(try !Self.opens(keyset, "one") && Self.opens(keyset, "two"))
        #expect(throws: KeystoreRefusal.lastSecret) { try change(.remove(Self.second), "two") }
        // The history key stays, so that a host checks a history that was copied before.
        #expect(mac == keyset.material.historyKey?.mac(of: try #require(keyset.log.upTo(keyset.log.points[2]))))
        keyset = try change(.removeAll)
        #expect(keyset.state.secrets.isEmpty && keyset.material.historyKey == nil)
        #expect(place.log.lines.suffix(4).map(\.action) == [.secrets, .secrets, .secrets, .secrets])
    }

    @Test func `Publications of 14 to 90 days and 1 to 16 different topics are made, and no others`() throws {
        let topics = try (0...16).map { try Topic("com.example.app\($0)") }
        let day: Int64 = 86_400
        let cases: [(topics: ArraySlice<Topic>, seconds: Int64, isPossible: Bool)] = [
            (topics.dropLast(), 14 * day, true), (topics.prefix(1), 90 * day, true), (topics[...], 14 * day, false),
            (topics.prefix(1), 14 * day - 1, false), (topics.prefix(1), 90 * day + 1, false),
            (topics.prefix(0), 30 * day, false), ([topics[0], topics[0]], 30 * day, false),
        ]
        for (topics, seconds, isPossible) in cases {
            let place = try PublishingPlace()
            func change() throws {
                try place.change(.policy) { try $0.publish(topics: Array(topics), validForInSeconds: seconds) }
            }
            func create() throws {
                var changes = KeysetChanges()
                changes.publication = .init(topics: Array(topics), validForInSeconds: seconds)
                _ = try place.host().create("Keys/other", .sender, changes)
            }
            if isPossible {
                try change()
                try create()
            } else {
                #expect(throws: KeystoreRefusal.publicationLimits) { try change() }
                #expect(throws: KeystoreRefusal.publicationLimits) { try create() }
            }
        }
    }

    @Test func `An imported key waits for publishLead; a known one and a fifth publisher are refused`() throws {
        let place = try PublishingPlace()
        let record = try Self.record(.sender)
        let state = try place.host().importKey(PublishingPlace.path, record).state
        #expect(state.key(record.kid)?.lifecycle.activatesAt == UnixTime(place.world.time + 7 * 86_400))
        #expect(throws: LifecycleError.self) { try place.host().importKey(PublishingPlace.path, record) }
        #expect(throws: KeyError.self) { try place.host().importKey(PublishingPlace.path, Self.record(.publisher)) }
        for _ in 1...3 { _ = try place.host().importKey("Pub/1", Self.record(.publisher)) }
        #expect(throws: KeystoreRefusal.publisherCount) {
            try place.host().importKey("Pub/1", Self.record(.publisher))
        }
    }

    @Test func `No key of suites 1 and 2 follows one of suite 3, and either of them follows the other`() throws {
        func record(_ type: KeyPairType) throws -> KeyRecord {
            let backend = try #require(Backends.supporting(type).last).backend
            return try KeyRecord.generate(.recipient, type: type, psk: false, backend: backend)
        }
        for (type, next, isPossible) in [(.p256, .x25519, true), (.x25519, .p256, true), (.xWing, .p256, false)]
            as [(KeyPairType, KeyPairType, Bool)]
        {
            let place = try PublishingPlace()
            _ = try place.host().create("Keys/r", record(type))
            func add() throws { _ = try place.host().importKey("Keys/r", record(next)) }
            if isPossible { try add() } else { #expect(throws: KeyError.self) { try add() } }
        }
    }

    @Test func `All keys of a publisher but the last can be destroyed; a set then lacks their signature`() throws {
        let place = try PublishingPlace()
        let old = try #require(place.publisher(1)?.state.keys.first?.kid)
        #expect(throws: KeystoreRefusal.publisherCount) { try place.host().destroy("Pub/1", old) }
        let record = try Self.record(.publisher)
        _ = try place.host().importKey("Pub/1", record)
        try place.publish()
        _ = try place.host().destroy("Pub/1", old)
        #expect(try place.publish() == [1: .written])
        let signers = try SignedSenderSet.namedSigners(of: #require(place.served(1)))
        #expect(signers == [record.kid])
    }

    @Test func `The epochs of pins are those of the log, with the publisher that it names`() throws {
        let place = try PublishingPlace(epochs: [1, 2])
        let senders = try place.host().load(PublishingPlace.path)
        func pins(_ epoch: Int64?, _ publisher: Int64?) throws -> SenderSetPins {
            try SenderSetPins(json: senders.pins(epoch: epoch) { _ in publisher.flatMap(place.publisher) })
        }
        #expect(throws: KeystoreRefusal.epochNeeded([1, 2])) { try pins(nil, 1) }
        #expect(throws: KeystoreRefusal.epochNeeded([1, 2])) { try pins(3, 1) }
        #expect(throws: KeystoreRefusal.otherPublisher(epoch: 2)) { try pins(2, 1) }
        #expect(throws: KeystoreRefusal.otherPublisher(epoch: 2)) { try pins(2, nil) }
        let two = try pins(2, 2)
        #expect(two.epoch == 2 && two.set == place.id.bytes)
        #expect(two.publishers.map(\.kid) == place.publisher(2)?.state.keys.map(\.kid))
    }

    @Test func `Pins have no publisher key that was revoked, and without another one there are none`() throws {
        let place = try PublishingPlace()
        let senders = try place.host().load(PublishingPlace.path)
        let first = place.publisher(1)!.state.keys[0].kid
        try place.host().revoke("Pub/1", first)
        #expect(throws: KeystoreRefusal.publisherCount) { try senders.pins(epoch: 1) { _ in place.publisher(1) } }
        try place.host().change("Pub/1", .rotated) { try $0.add(activatesAt: nil) }
        let pins = try SenderSetPins(json: senders.pins(epoch: 1) { _ in place.publisher(1) })
        #expect(pins.publishers.map(\.kid) == [place.publisher(1)!.state.keys[1].kid])
    }
}
