import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptTestSupport
import Testing

@testable import PushCryptLives

@Suite("Publishing signed sets") struct PublishTests {
    private let place: PublishingPlace

    init() throws { place = try PublishingPlace() }

    @Test func `After the first set nothing is written until half of its validity has passed`() throws {
        let app = try place.app()
        #expect(try place.publish() == [1: .written])
        #expect(app.fetch(place.served(1), at: place.now))
        let (log, document) = (place.log, place.served(1))
        #expect(try place.publish(day: 29) == [1: .unchanged])
        #expect(place.log.bytes == log.bytes && place.served(1) == document)
        #expect(try place.publish(day: 30) == [1: .written])
        #expect(place.log.lines.count == log.lines.count + 1)
        #expect(app.fetch(place.served(1), at: UnixTime(place.world.time + 89 * 86_400)))
    }

    @Test func `A change of keys is published at once; other changes aren't`() throws {
        try place.publish()
        try place.change(.policy) { $0.changes.policy = RotationPolicy.standard }
        #expect(try place.publish() == [1: .unchanged])
        let revoked = place.primary
        try place.host().revoke(PublishingPlace.path, revoked, destroying: true)
        #expect(try place.publish() == [1: .written])
        #expect(ServedDocument(place.served(1)!)?.revoked.keys.contains(revoked) == true)
        #expect(place.number(1) == place.log.state.head.number)
    }

    @Test("What isn't the keyset's set is written again, from the same line", arguments: 0..<6)
    func lostSets(_ index: Int) throws {
        let place = try PublishingPlace(epochs: [1, 2]).published()
        let (log, document) = (place.log, place.served(1)!)
        let other = try PublishingPlace().published()
        let damaged = document.flipping(bit: 40 * 8)
        let payload = SignedSenderSet.unverifiedPayload(of: try place.forged(1))
        let sets = [nil, Array("junk".utf8), damaged, other.served(1), place.served(2), payload]
        place.world.served[place.name(1)] = sets[index]
        #expect(try place.publish(day: 1) == [1: .written, 2: .unchanged])
        #expect(place.served(1) == document && place.log.bytes == log.bytes)
    }

    @Test func `A set ahead of the log is replaced only if it is unsigned and a person says so`() throws {
        try place.publish()
        let old = place.file
        try place.publish(day: 30)
        let (later, document) = (place.log.state.head, place.served(1))
        place.file = old
        #expect(throws: KeystoreRefusal.olderThanHistory(id: place.id, seen: later)) { try place.publish(day: 30) }
        place.storage.histories[place.id] = nil
        for replacing in [false, true] {
            #expect(throws: KeystoreRefusal.servedAhead(later, isSigned: true)) {
                try place.publish(day: 30, replacing: replacing)
            }
            #expect(place.served(1) == document && place.log.bytes == old.keyset.log.bytes)
        }
        let forged = try place.forged(1)
        place.world.served[place.name(1)] = forged
        place.expectServedAhead(forged)
        #expect(place.served(1) == forged)
        #expect(try place.publish(replacing: true) == [1: .written])
    }

    @Test("A set of another epoch, also under a wrong name, shows an old copy", arguments: [1, 2])
    func servedAheadElsewhere(_ epoch: Int64) throws {
        let place = try PublishingPlace(epochs: [1, 2])
        try place.change(.policy) { $0.changes.epochs[2] = .some(nil) }
        let old = place.file
        try place.host().revoke(PublishingPlace.path, place.primary)
        try place.host().setEpoch(2, of: PublishingPlace.path, publisher: place.publisher(2)!.state.id)
        try place.publish()
        let (head, set) = (place.log.state.head, place.served(2)!)
        place.begin(again: old)
        place.world.served = [place.name(epoch): set]
        #expect(throws: KeystoreRefusal.servedAhead(head, isSigned: true)) { try place.publish() }
        #expect(place.world.served == [place.name(epoch): set] && place.log.bytes == old.keyset.log.bytes)
    }

    @Test func `Each epoch is signed by its own publisher, also if the other's isn't at hand`() throws {
        let place = try PublishingPlace(epochs: [1, 2])
        #expect(try place.publish([place.publisher(2)!]) == [1: .publisherElsewhere, 2: .written])
        let now = place.now
        #expect(try place.app(2).fetch(place.served(2), at: now))
        #expect(place.served(1) == nil)
        #expect(try place.publish() == [1: .written, 2: .unchanged])
        #expect(try place.app(1).fetch(place.served(1), at: now))
        #expect(try !place.app(1).fetch(place.served(2), at: now))
    }

    @Test func `An ended epoch loses its set, unless the log doesn't extend it; other files stay`() throws {
        let place = try PublishingPlace(epochs: [1, 2]).published()
        try place.change(.policy) { $0.changes.epochs[2] = .some(nil) }
        let forged = try place.forged(2)
        let set = place.world.served.updateValue(forged, forKey: place.name(2))
        let others = [place.name(3), "\(place.id).txt", place.name(nil)]
        for name in others { place.world.served[name] = set }
        place.expectServedAhead(forged)
        #expect(place.served(2) == forged)
        place.world.served[place.name(2)] = set
        #expect(try place.publish() == [1: .written, 2: .removed])
        #expect(place.served(2) == nil)
        for name in others { #expect(place.world.served[name] == set) }
    }

    @Test func `After a change of the publisher's keys the set is signed again, with a line that names it`() throws {
        let (app, now) = (try place.app(), place.now)
        try place.publish()
        #expect(app.fetch(place.served(1), at: now))
        let log = place.log
        func point() -> LogPoint? { place.log.state.publisherPoints[place.publisher(1)!.state.id] }
        let first = place.publisher(1)!.state.keys[0].kid
        try place.host().change("Pub/1", .rotated) { try $0.add(activatesAt: nil) }
        let second = place.publisher(1)!.state.keys[1].kid
        #expect(try place.publish() == [1: .written])
        #expect(point() == place.publisher(1)!.state.head)
        #expect(try place.publish() == [1: .unchanged])
        #expect(try SignedSenderSet.namedSigners(of: place.served(1)!) == [first, second])
        #expect(app.fetch(place.served(1), at: now))
        try place.host().change("Pub/1", .destroyed) {
            try $0.revoke(first)
            try $0.destroy(first, force: true)
        }
        #expect(try place.publish() == [1: .written])
        #expect(try SignedSenderSet.namedSigners(of: place.served(1)!) == [second])
        #expect(try !app.fetch(place.served(1), at: now) && place.app().fetch(place.served(1), at: now))
        #expect(point() == place.publisher(1)!.state.head)
        #expect(place.log.lines.count == log.lines.count + 2)
    }

    @Test func `A host whose publisher is away goes on after a person has confirmed the clock once`() throws {
        try place.publish()
        func run(_ day: Int64, confirmsClock: Bool = false) throws {
            let host = place.host(day: day, confirmsClock: confirmsClock)
            try host.rotate(PublishingPlace.path)
            try host.recordRun(of: place.id, status: 0)
        }
        for day in [20, 40, 60] as [Int64] { try run(day) }
        #expect(throws: KeystoreRefusal.clockAhead(last: place.host(day: 60).clock)) { try run(68) }
        try run(68, confirmsClock: true)
        try run(69)
    }

    @Test func `An old copy of the publisher signs nothing, and appends nothing to the sender's log`() throws {
        let old = place.publisher(1)!
        let added = try place.host().change("Pub/1", .rotated) { try $0.add(activatesAt: nil) }
        try place.publish()
        try place.rotate()
        let (log, document) = (place.log, place.served(1))
        #expect(try place.publish([old]) == [1: .refused(.olderPublisher(published: added.state.head))])
        #expect(place.log.bytes == log.bytes && place.served(1) == document)
        #expect(try place.publish() == [1: .written])
    }

    @Test("A sender key that is or was a key of the publisher isn't published", arguments: [false, true])
    func publisherAsSender(_ isDestroyed: Bool) throws {
        guard case .publisher(let key, let privateKey) = place.publisher(1)!.material.records.values.first!.material
        else { throw KeyError(.wrongKind, "no publisher") }
        let record = try KeyRecord(.sender(publicKey: key, privateKey: privateKey), backend: DefaultBackend.shared)
        if isDestroyed {
            try place.host().change("Pub/1", .rotated) { try $0.add(activatesAt: nil) }
            try place.host().change("Pub/1", .destroyed) {
                try $0.revoke(record.kid)
                try $0.destroy(record.kid, force: true)
            }
        }
        try place.change(.imported) { try $0.add(record, activatesAt: nil) }
        #expect(try place.publish() == [1: .refused(.publisherKey(record.kid))])
        #expect(place.served(1) == nil)
    }

    @Test func `A renamed keyset is published under the same name; without topics there is nothing to sign`() throws {
        try place.publish()
        place.storage.disk["Keys/renamed"] = place.storage.disk.removeValue(forKey: PublishingPlace.path)
        let results = try place.host().publish("Keys/renamed", publishers: place.publishers)
        #expect(results.map(\.name) == [place.name(1)] && results.map(Outcome.init) == [.unchanged])
        var changes = KeysetChanges()
        changes.epochs = [1: place.publisher(1)!.state.id]
        _ = try place.host().create("Keys/mute", .sender, changes)
        let mute = try place.host().publish("Keys/mute", publishers: place.publishers)
        #expect(mute.map(Outcome.init) == [.refused(.noPublication)])
    }

    @Test func `After a crash the next run does what is missing, and appends no second line`() throws {
        place.storage.cannotServe = true
        #expect(try place.publish() == [1: .failed])
        place.storage.cannotServe = false
        let log = place.log
        #expect(try place.publish() == [1: .written])
        #expect(place.log.bytes == log.bytes)
        place.storage.crashes = true
        #expect(throws: MemoryStorage.Crash.self) { try place.publish(day: 30) }
        #expect(try place.publish(day: 30) == [1: .written])
        #expect(place.log.lines.count == log.lines.count + 1)
    }

    @Test func `Lines that somebody without the secret has added, such as published, aren't published`() throws {
        let place = try PublishingPlace(secrets: Life.secrets).published()
        let document = place.served(1)
        var revocation = KeysetChanges.Key(place.primary)
        var (revocations, publication) = (KeysetChanges(), KeysetChanges())
        revocation.moments = [.revokedAt: place.host().clock]
        revocations.keys = [revocation]
        (publication.issuedAt, publication.epoch) = (place.log.state.issuedAt, 1)
        publication.validUntil = place.log.state.published[1]?.validUntil
        let file = place.file.keyset
        let forged = try file.log.appending(.revoked, at: place.log.state.at, who: "evil", revocations)
            .appending(.published, at: place.log.state.at, who: "evil", publication)
        place.file.keyset = OpenedKeyset(forged, file.material)
        #expect(throws: KeysetFileError.self) { try place.publish() }
        #expect(place.served(1) == document)
    }

    @Test func `An app that has a set of a clock a year ahead accepts the set after the clock was corrected`() throws {
        let (app, now) = (try place.app(), place.now)
        // A key that retires soon seals now, and its end has passed where the clock is.
        try place.rotate()
        let primary = place.primary
        #expect(place.log.state.key(primary)?.lifecycle.expiresAt != nil)
        try place.publish(day: 365, confirmsClock: true)
        #expect(app.fetch(place.served(1), at: now) && !app.verifies(primary, at: now))
        try place.host().correctClock(PublishingPlace.path)
        #expect(try place.publish() == [1: .written])
        #expect(app.fetch(place.served(1), at: now) && app.verifies(primary, at: now))
        #expect(try place.publish(day: 1) == [1: .unchanged])
    }

    @Test func `After a restoration that gives up a later set, apps accept the next one`() throws {
        let (app, now) = (try place.app(), place.now)
        try place.publish()
        let old = place.file
        try place.rotate()
        try place.publish()
        #expect(app.fetch(place.served(1), at: now))
        let later = place.log.state.head
        place.begin(again: old)
        #expect(throws: KeystoreRefusal.servedAhead(later, isSigned: true)) { try place.publish() }
        try place.restore(old)
        #expect(try place.publish() == [1: .written])
        #expect(app.fetch(place.served(1), at: now) && app.verifies(place.primary, at: now))
    }

    @Test func `A revocation that only the served set shows stays in later sets and copies with the key`() throws {
        let app = try place.app()
        let first = place.file
        try place.rotate()
        let second = place.file
        let leaked = place.log.state.keys[1].kid
        try place.host().revoke(PublishingPlace.path, leaked)
        try place.publish()
        #expect(app.fetch(place.served(1), at: place.now))

        place.begin(again: first)
        let state = try place.restore(first).state
        #expect(state.key(leaked) == nil && state.revokedElsewhere.keys.contains(leaked))
        try place.publish()
        #expect(ServedDocument(place.served(1)!)?.revoked.keys.contains(leaked) == true)
        #expect(app.fetch(place.served(1), at: place.now))
        let record = second.keyset.material.records[leaked]!
        #expect(throws: LifecycleError.self) { try place.host().importKey(PublishingPlace.path, record) }
        place.begin(again: second)
        #expect(try place.restore(second).state.key(leaked)?.lifecycle.revokedAt != nil)
    }

    @Test func `A restoration that has nothing to restore writes nothing, also after a no to a forged set`() throws {
        try place.publish()
        place.world.served[place.name(1)] = try place.forged(1)
        let log = place.log
        try place.host().restore(PublishingPlace.path, [place.file.keyset]) { _ in false }
        #expect(place.log.bytes == log.bytes)
    }

    @Test func `A restoration long after the last change needs a person who has looked at the clock`() throws {
        try place.publish()
        let copy = place.file
        place.storage.disk[PublishingPlace.path] = nil
        #expect(throws: KeystoreRefusal.clockAhead(last: place.host().clock)) {
            try place.host(day: 401).restore(PublishingPlace.path, [copy.keyset]) { _ in true }
        }
        #expect(place.storage.disk[PublishingPlace.path] == nil)
        try place.host(day: 401, confirmsClock: true).restore(PublishingPlace.path, [copy.keyset]) { _ in true }
        #expect(place.log.extends(copy.keyset.log))
    }

    @Test func `Of two lost logs, one of which has given up the other, a restoration asks for one choice`() throws {
        let first = place.file
        try place.rotate()
        try place.publish()
        let published = place.file.keyset.history()
        place.begin(again: first)
        let restored = try place.restore(first)
        #expect(restored.log.extends(published.log) && restored.log.lines.count < published.log.lines.count)
        place.begin(again: first)
        for _ in 0..<4 { try place.change(.policy) { $0.changes.writer = "a" } }
        let longest = place.file
        var asked: [KeystoreRefusal.GivenUp] = []
        try place.host().restore(
            PublishingPlace.path, [longest.keyset], histories: [published, restored.history()],
            publishers: place.publishers
        ) {
            asked.append($0)
            return true
        }
        #expect(asked == [.log(restored.state.head)])
    }

    @Test func `A restoration takes no revocations of unknown keys from an unsigned set`() throws {
        let copy = place.file
        let forged = try place.forged(1, revoked: true)
        place.world.served[place.name(1)] = forged
        let state = try place.restore(copy).state
        #expect(ServedDocument(forged)?.revoked.count == 1 && state.revocations.isEmpty)
    }
}

@Suite("Publishing public keys without a signature") struct UnsignedSetTests {
    @Test("A set names its keyset and line, and Core reads it", arguments: [KeyKind.sender, .recipient])
    func format(_ kind: KeyKind) throws {
        let place = try PublishingPlace(kind, epochs: [], psk: kind == .recipient)
        #expect(try place.publish() == [nil: .written])
        #expect(place.name(nil) == "\(place.id).jwks.json")
        let first = place.primary
        let keyset = try Keyset(json: place.served(nil)!)
        #expect(keyset.kind == kind && keyset.keyIDs == [first])
        #expect(keyset.entries[0].demandsPSK == (kind == .recipient))
        #expect(!keyset.entries[0].record.isPrivateAsymmetric && !keyset.entries[0].record.hasPSK)
        #expect(place.number(nil) == keyset.sequence)
        #expect(ServedDocument(place.served(nil)!)?.head == place.log.state.head)
        let log = place.log
        #expect(try place.publish(day: 300) == [nil: .unchanged])
        #expect(place.log.bytes == log.bytes)
        try place.host().revoke(PublishingPlace.path, first, destroying: true)
        #expect(try place.publish() == [nil: .written])
        let next = try Keyset(json: place.served(nil)!)
        #expect(next.keyIDs == [place.primary] && next.sequence > keyset.sequence)
        #expect(ServedDocument(place.served(nil)!)?.revoked.keys.contains(first) == true)
    }

    @Test func `A set ahead of the log is replaced if a person says so, and junk always`() throws {
        let place = try PublishingPlace(.recipient, epochs: [])
        let forged = try place.forged(nil)
        place.world.served[place.name(nil)] = forged
        place.expectServedAhead(forged)
        #expect(try place.publish(replacing: true) == [nil: .written])
        let document = place.served(nil)
        place.world.served[place.name(nil)] = []
        #expect(try place.publish() == [nil: .written])
        #expect(place.served(nil) == document)
    }

    @Test func `The first epoch removes the set without a signature, and the end of the last brings it back`() throws {
        let place = try PublishingPlace(epochs: []).published()
        let publisher = try place.host().create("Pub/1", .publisher)
        try place.host().setEpoch(1, of: PublishingPlace.path, publisher: publisher.state.id)
        #expect(try place.publish() == [nil: .removed, 1: .written])
        try place.change(.policy) { $0.changes.epochs[1] = .some(nil) }
        #expect(try place.publish() == [nil: .written, 1: .removed])
        #expect(place.world.served.keys.sorted() == [place.name(nil)])
    }

    @Test("Shared and publisher keysets publish nothing", arguments: [KeyKind.shared, .publisher])
    func kinds(_ kind: KeyKind) throws {
        let place = try PublishingPlace(kind, epochs: [])
        let log = place.log
        #expect(try place.publish() == [:])
        #expect(place.world.served.isEmpty && place.log.bytes == log.bytes)
    }

    @Test func `A set with 4,096 revoked keys is the last one that is published`() throws {
        let place = try PublishingPlace(epochs: [])
        let host = place.host()
        func publish(revoked count: Int) throws -> Outcome? {
            var changes = KeysetChanges()
            changes.keys = try (0..<count).map { _ in
                let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
                var key = KeysetChanges.Key(record.kid)
                key.jwk = try PublicJWK(record)
                key.moments = [.createdAt: host.clock, .revokedAt: host.clock, .destroyedAt: host.clock]
                return key
            }
            let old = place.file.keyset
            let log = try old.log.appending(.imported, at: host.clock, who: "a", changes)
            try place.storage.replace(PublishingPlace.path, with: OpenedKeyset(log, old.material))
            return try place.publish()[nil]
        }
        #expect(try publish(revoked: 4_096) == .written)
        let document = place.served(nil)
        #expect(try publish(revoked: 1) == .refused(.setTooLarge))
        #expect(place.served(nil) == document)
    }
}
