import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

@Suite("PublishedSet")
struct PublishedSetTests {
    private static let topic = try! Topic("com.example.app")

    /// Sender keys whose set is published from day 1 on, for 60 days.
    private static func senders() throws -> Editing {
        var editing = try Editing(.sender)
        try editing.change(at: .days(1)) {
            try $0.publish(topics: [Self.topic], epoch: nil, validForInSeconds: 60 * day)
        }
        return editing
    }

    private static func publishers(_ count: Int = 1) throws -> Editing {
        var editing = try Editing(.publisher)
        for _ in 1..<count { try editing.change(at: .days(1)) { try $0.add(activatesAt: nil) } }
        return editing
    }

    private static func set(_ senders: Editing, _ publishers: Editing) throws -> PublishedSet {
        try PublishedSet(of: senders.stored, by: publishers.stored, at: "Publisher/app")
    }

    private static func accepted(
        _ document: [UInt8], _ pins: [UInt8], _ stored: SenderSetState? = nil, at time: UnixTime
    ) throws -> SenderSetState {
        let pins = try SenderSetPins(json: pins)
        let set = try SignedSenderSet.verify(document, publishers: pins.publishers)
        return try SenderSetState(accepting: set, pins: pins, topic: topic, stored: stored, at: time)
    }

    @Test("An app with the pins accepts the document", arguments: 1...4)
    func accepted(_ count: Int) throws {
        let set = try Self.set(Self.senders(), Self.publishers(count))
        let (document, pins) = (try set.document(at: .days(2)), try set.pins())
        let state = try Self.accepted(document, pins, at: .days(2))
        #expect(state.epoch == 1 && state.sequence == 2)
        #expect(try JSONText(document).root["signatures"]?.elements.count == count)
        #expect(try JSONText(pins).root["publishers"]?.elements.count == count)
    }

    @Test("Every publisher's signature alone is enough")
    func eachSigner() throws {
        let publishers = try Self.publishers(4)
        let document = try Self.set(Self.senders(), publishers).document(at: .days(2))
        for record in publishers.stored.records.values {
            let set = try SignedSenderSet.verify(document, publishers: [record.publicRecord(keepingPSK: false)])
            #expect(set.signedBy == record.kid)
        }
    }

    @Test("The document depends only on the two keysets")
    func deterministic() throws {
        let (senders, publishers) = (try Self.senders(), try Self.publishers(2))
        let first = try Self.set(senders, publishers).document(at: .days(1))
        for time in [UnixTime.days(1) - 600, .days(30), .days(61) - 1] {
            #expect(try Self.set(senders, publishers).document(at: time) == first)
        }
    }

    @Test("A document that was issued more than 10 minutes in the future is not signed")
    func future() throws {
        let set = try Self.set(Self.senders(), Self.publishers())
        let issuedAt = UnixTime.days(1)
        _ = try set.document(at: issuedAt - 600)
        let error = #expect(throws: KeyError.self) { try set.document(at: issuedAt - 601) }
        #expect(error?.code == .issuedInFuture)
    }

    @Test("A document is refused from its validUntil on, and a renewed one is accepted after it")
    func renewed() throws {
        var senders = try Self.senders()
        let publishers = try Self.publishers()
        let old = try Self.set(senders, publishers)
        let error = #expect(throws: KeyError.self) { try old.document(at: .days(61)) }
        #expect(error?.code == .expired)
        let state = try Self.accepted(old.document(at: .days(2)), old.pins(), at: .days(2))
        let plan = senders.stored.metadata.plan(at: .days(31), confirmsClock: true)
        #expect(plan.due.map(\.action) == [.renew])
        let editor = try senders.change(at: .days(31)) { try $0.carryOut(plan) }.editor
        #expect(editor.events.map(\.action) == [.renewed])
        let new = try Self.set(senders, publishers)
        let later = try Self.accepted(new.document(at: .days(61)), old.pins(), state, at: .days(61))
        #expect(later.sequence == state.sequence + 1)
        #expect(try new.pins() == old.pins())
    }

    @Test("A revoked sender key stays in the document and is revoked by it")
    func revoked() throws {
        var senders = try Self.senders()
        let kid = senders.primary
        try senders.change(at: .days(3)) { try $0.revoke(kid) }
        let set = try Self.set(senders, Self.publishers())
        let state = try Self.accepted(set.document(at: .days(3)), set.pins(), at: .days(3))
        #expect(state.revoked == [try #require(senders.stored.records[kid]).thumbprint()])
    }

    @Test("A document contains no secret, nor do the pins")
    func secrets() throws {
        let (senders, publishers) = (try Self.senders(), try Self.publishers(2))
        let set = try Self.set(senders, publishers)
        let document = try set.document(at: .days(2))
        let payload = try #require(JSONText(document).root["payload"]?.utf8.flatMap(Base64URL.decode))
        let text = String(decoding: document + payload + (try set.pins()), as: UTF8.self)
        let secrets = try senders.secrets() + publishers.secrets()
        #expect(secrets.count == 3)
        for secret in secrets { #expect(!text.contains(secret)) }
    }

    @Test("Keysets of other kinds and senders without a publication are refused")
    func refused() throws {
        let (senders, publishers) = (try Self.senders(), try Self.publishers())
        func code(_ senders: Editing, _ publishers: Editing) -> KeyError.Code? {
            do {
                _ = try Self.set(senders, publishers)
                return nil
            } catch {
                return (error as? KeyError)?.code
            }
        }
        #expect(code(senders, publishers) == nil)
        #expect(try code(Editing(.sender), publishers) == .invalidPolicy)
        for kind in [KeyKind.recipient, .shared] {
            #expect(try code(Editing(kind), publishers) == .wrongKind)
            #expect(try code(senders, Editing(kind)) == .wrongKind)
        }
        #expect(code(publishers, publishers) == .wrongKind)
        #expect(code(senders, senders) == .wrongKind)
    }

    @Test("A key that is sender and publisher is refused")
    func both() throws {
        var senders = try Self.senders()
        let publishers = try Self.publishers()
        guard case .publisher(let publicKey, let privateKey) = publishers.stored.records.values.first?.material else {
            throw KeyError(.wrongKind, "no publisher")
        }
        let record = try KeyRecord(
            .sender(publicKey: publicKey, privateKey: privateKey), backend: DefaultBackend.shared)
        try senders.change(at: .days(2)) { try $0.add(record, activatesAt: .days(9), as: .imported) }
        let error = #expect(throws: KeyError.self) { try Self.set(senders, publishers) }
        #expect(error?.code == .wrongKind)
    }

    @Test("A sender key that was a publisher is refused, because apps may still pin it")
    func destroyedPublisher() throws {
        var (senders, publishers) = (try Self.senders(), try Self.publishers(2))
        let kid = publishers.primary
        guard case .publisher(let publicKey, let privateKey) = publishers.stored.records[kid]?.material else {
            throw KeyError(.wrongKind, "no publisher")
        }
        try publishers.change(at: .days(2)) { try $0.destroy(kid, force: true) }
        #expect(publishers.stored.records[kid] == nil)
        let record = try KeyRecord(
            .sender(publicKey: publicKey, privateKey: privateKey), backend: DefaultBackend.shared)
        _ = try Self.set(senders, publishers)
        try senders.change(at: .days(2)) { try $0.add(record, activatesAt: .days(9), as: .imported) }
        let error = #expect(throws: KeyError.self) { try Self.set(senders, publishers) }
        #expect(error?.code == .wrongKind)
        #expect(error?.reason.contains("key \(kid) is or was a publisher") == true, "\(error?.reason ?? "")")
    }

    @Test("The 65th key of a published set is refused, and the keys of a keyset without a set are not limited")
    func limit() throws {
        var senders = try Self.senders()
        for _ in 1..<64 { try senders.change(at: .days(2)) { try $0.add(activatesAt: nil) } }
        let kid = senders.primary
        _ = try Self.set(senders, Self.publishers()).document(at: .days(2))
        for change: (inout KeysetEditor) throws -> Void in [
            { try $0.add(activatesAt: nil) }, { try $0.revoke(kid) },
        ] {
            let error = #expect(throws: KeyError.self) { try senders.change(at: .days(2), change) }
            #expect(error?.code == .tooLarge)
            #expect(error?.reason.contains("65 keys") == true, "\(error?.reason ?? "")")
        }
        let other = try #require(senders.timeline.keys.last?.kid)
        try senders.change(at: .days(2)) { try $0.destroy(other, force: true) }
        try senders.change(at: .days(2)) { try $0.revoke(kid) }

        var others = try Editing(.sender)
        for _ in 1..<66 { try others.change(at: .days(2)) { try $0.add(activatesAt: nil) } }
        let error = #expect(throws: KeyError.self) {
            try others.change(at: .days(2)) {
                try $0.publish(topics: [Self.topic], epoch: nil, validForInSeconds: nil)
            }
        }
        #expect(error?.code == .tooLarge)
    }

    @Test("The document of an earlier epoch is accepted by apps that pin it, and by no others")
    func earlierEpoch() throws {
        var senders = try Self.senders()
        let publishers = try Self.publishers()
        let oldPins = try Self.set(senders, publishers).pins()
        try senders.change(at: .days(3)) { try $0.publish(topics: nil, epoch: 2, validForInSeconds: nil) }
        let set = try Self.set(senders, publishers)
        #expect(try Self.accepted(set.document(epoch: 1, at: .days(3)), oldPins, at: .days(3)).epoch == 1)
        #expect(try Self.accepted(set.document(at: .days(3)), set.pins(), at: .days(3)).epoch == 2)
        for (epoch, pins) in [(1, try set.pins()), (2, oldPins)] {
            let error = #expect(throws: KeyError.self) {
                try Self.accepted(set.document(epoch: Int64(epoch), at: .days(3)), pins, at: .days(3))
            }
            #expect(error?.code == .otherEpoch)
        }
        #expect(throws: KeyError.self) { try set.document(epoch: 3, at: .days(3)) }
    }
}
