import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import Testing

@testable import PushCryptLives

/// The publisher is on another host, which has no key of senders.
@Suite("Signing the log of another host") struct OtherHostTests {
    private let place: PublishingPlace
    private let other: MemoryStorage
    private var signer: KeystoreHost<MemoryStorage> {
        KeystoreHost(other, name: "signer", who: "s", clock: UnixTime(place.world.time))
    }

    init() throws {
        place = try PublishingPlace(epochs: [1, 2])
        other = MemoryStorage(place.world)
    }

    private func send(day: Int64 = 0) throws -> KeysetHistory {
        try place.host(day: day).unsigned(PublishingPlace.path)
    }

    private func sign(
        _ sent: KeysetHistory, _ publishers: [OpenedKeyset]? = nil, replacing: Bool = false,
        review: (UnsignedLines) -> Bool = { _ in true }
    ) throws -> [Outcome] {
        try signer.signReceived(
            sent, publishers: publishers ?? place.publishers, replacing: replacing, review: review
        ).map(Outcome.init)
    }

    private func forging(_ log: KeysetLog, over: [LogPoint] = []) throws -> KeysetHistory {
        let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        var (changes, key) = (KeysetChanges(), KeysetChanges.Key(record.kid))
        key.jwk = try PublicJWK(record)
        changes.keys = [key]
        changes.over = over
        return KeysetHistory(
            try log.appending(over.isEmpty ? .rotated : .restored, at: log.state.at, who: "evil", changes), mac: nil)
    }

    @Test func `The sending host appends lines; the other one asks once, signs and appends nothing`() throws {
        let sent = try send()
        #expect(sent.log.lines.suffix(2).map(\.action) == [.published, .published])
        #expect(place.log.bytes == sent.log.bytes && place.world.served.isEmpty)
        var asked: [UnsignedLines] = []
        let outcomes = try sign(sent) { lines in
            asked.append(lines)
            return true
        }
        #expect(outcomes == [.written, .written])
        let key = place.log.state.keys[0]
        #expect(asked.map(\.head) == [sent.log.state.head])
        #expect(asked.map { $0.keys.map(\.thumbprint) } == [[key.jwk!.thumbprint]])
        for epoch in [Int64(1), 2] {
            #expect(try place.app(epoch).fetch(place.served(epoch), at: UnixTime(place.world.time)))
        }
        #expect(place.log.bytes == sent.log.bytes)
        #expect(try sign(send(day: 1)) { _ in false } == [.unchanged, .unchanged])
        try place.host().revoke(PublishingPlace.path, key.kid)
        _ = try sign(send()) { lines in
            #expect(lines.keys.map(\.kid) == [place.primary] && lines.revoked == [key.kid])
            return true
        }
        #expect(place.number(1)! > sent.log.state.head.number)
    }

    @Test func `A forged log is signed only if a person agrees to its head, and the true one afterwards`() throws {
        let sent = try send()
        #expect(throws: KeystoreRefusal.notReviewed) {
            try sign(forging(sent.log)) { $0.head == sent.log.state.head }
        }
        #expect(place.world.served.isEmpty)
        #expect(try sign(sent) { $0.head == sent.log.state.head } == [.written, .written])
    }

    @Test func `A log that gives up a revocation shows that key again`() throws {
        let sent = try send()
        let kid = place.primary
        try place.host().revoke(PublishingPlace.path, kid)
        let revoked = try send()
        _ = try sign(revoked)
        let forged = try forging(sent.log, over: [revoked.log.state.head])
        #expect(throws: KeystoreRefusal.notReviewed) {
            try sign(forged) { lines in
                #expect(lines.keys.map(\.kid).contains(kid))
                return false
            }
        }
    }

    @Test func `An older log, and one that parts from what this host has seen, is refused`() throws {
        let first = try send()
        try place.host().rotate(PublishingPlace.path, beginsNow: true)
        let second = try send()
        _ = try sign(second)
        let (served, seen) = (place.world.served, second.log.state.head)
        #expect(throws: KeystoreRefusal.olderThanHistory(id: place.id, seen: seen)) { try sign(first) }
        #expect(throws: KeystoreRefusal.twoHistories(id: place.id, seen: seen)) { try sign(forging(first.log)) }
        #expect(place.world.served == served && other.histories[place.id]?.log.state.head == seen)
    }

    @Test func `Without the publisher of an epoch nothing is signed, and the log counts as not seen`() throws {
        let sent = try send()
        #expect(throws: KeystoreRefusal.otherPublisher(epoch: 2)) { try sign(sent, [place.publisher(1)!]) }
        #expect(place.world.served.isEmpty && other.histories.isEmpty)
        let lone = try PublishingPlace(epochs: [])
        #expect(throws: KeystoreRefusal.noPublication) { try lone.host().unsigned(PublishingPlace.path) }
        let history = lone.storage.histories[lone.id]!
        #expect(throws: KeystoreRefusal.noPublication) { try sign(history) }
    }

    @Test func `An old copy of the publisher, and a set that the log doesn't extend, are refused there, too`() throws {
        let old = place.publisher(1)!
        let added = try place.host().change("Pub/1", .rotated) { try $0.add(activatesAt: nil) }
        try place.publish()
        let refusal = KeystoreRefusal.olderPublisher(published: added.state.head)
        #expect(try sign(send(), [old, place.publisher(2)!]) == [.refused(refusal), .unchanged])
        let sent = try send()
        let forged = try place.forged(2)
        place.world.served[place.name(2)] = forged
        let ahead = KeystoreRefusal.servedAhead(ServedDocument(forged)!.head, isSigned: false)
        #expect(throws: ahead) { try sign(sent) }
        #expect(throws: ahead) { try send() }
        #expect(try sign(sent, replacing: true) == [.unchanged, .written])
    }
}
