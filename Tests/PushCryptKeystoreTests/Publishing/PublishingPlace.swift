import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import Testing

@testable import PushCryptLives

/// A host with a keyset and publishers, whose files are in memory.
struct PublishingPlace {
    static let path = "Keys/senders"
    let world = World()
    let storage: MemoryStorage
    let id: KeysetID

    /// - Parameter epochs: each has a publisher of its own, which pins the set.
    init(
        _ kind: KeyKind = .sender, epochs: [Int64] = [1], psk: Bool = false, secrets: KeysetSecrets? = nil
    ) throws {
        storage = MemoryStorage(world)
        let host = KeystoreHost(storage, name: "a", who: "a", clock: UnixTime(world.time))
        var changes = KeysetChanges()
        for epoch in epochs { changes.epochs[epoch] = try host.create("Pub/\(epoch)", .publisher).state.id }
        if kind == .sender { changes.publication = .init(topics: [LifeApp.topic], validForInSeconds: 60 * 86_400) }
        id = try host.create(Self.path, kind, changes, psk: psk, secrets: secrets).state.id
    }

    func host(day: Int64 = 0, confirmsClock: Bool = false) -> KeystoreHost<MemoryStorage> {
        let clock = UnixTime(world.time + day * 86_400)
        return KeystoreHost(storage, name: "a", who: "a", clock: clock, confirmsClock: confirmsClock)
    }

    var file: MemoryStorage.File {
        get { storage.disk[Self.path]! }
        nonmutating set { storage.disk[Self.path] = newValue }
    }

    /// Puts a copy in the file's place, on a host that has seen nothing else.
    func begin(again copy: MemoryStorage.File) {
        file = copy
        storage.histories[id] = nil
    }

    @discardableResult
    func restore(_ copy: MemoryStorage.File) throws -> OpenedKeyset {
        try host().restore(Self.path, [copy.keyset], publishers: publishers) { _ in true }
    }

    func published() throws -> PublishingPlace {
        try publish()
        return self
    }

    /// Expects that nothing is published because this document, without a publisher's signature, is ahead.
    func expectServedAhead(_ document: [UInt8], _ location: SourceLocation = #_sourceLocation) {
        let refusal = KeystoreRefusal.servedAhead(ServedDocument(document)!.head, isSigned: false)
        #expect(throws: refusal, sourceLocation: location) { try publish() }
    }

    @discardableResult
    func rotate() throws -> KeysetLog { try host().rotate(Self.path, beginsNow: true) }
    var now: UnixTime { UnixTime(world.time) }
    var log: KeysetLog { storage.disk[Self.path]!.keyset.log }
    var primary: KeyID { log.state.timeline.primary(at: UnixTime(world.time))!.kid }
    var publishers: [OpenedKeyset] { [1, 2].compactMap(publisher) }
    func publisher(_ epoch: Int64) -> OpenedKeyset? { storage.disk["Pub/\(epoch)"]?.keyset }
    func name(_ epoch: Int64?) -> String { ServedDocument.name(id, epoch) }
    func served(_ epoch: Int64?) -> [UInt8]? { world.served[name(epoch)] }
    func number(_ epoch: Int64?) -> Int64? { served(epoch).flatMap(ServedDocument.init)?.head.number }

    func app(_ epoch: Int64 = 1) throws -> LifeApp {
        try LifeApp(id, epoch, pinning: Array(publisher(epoch)!.material.records.values))
    }

    @discardableResult
    func publish(
        day: Int64 = 0, _ publishers: [OpenedKeyset]? = nil, confirmsClock: Bool = false, replacing: Bool = false
    ) throws -> [Int64?: Outcome] {
        let results = try host(day: day, confirmsClock: confirmsClock)
            .publish(Self.path, publishers: publishers ?? self.publishers, replacing: replacing)
        #expect(results.allSatisfy { $0.name == name($0.epoch) })
        return Dictionary(uniqueKeysWithValues: results.map { ($0.epoch, Outcome($0)) })
    }

    @discardableResult
    func change(_ action: KeysetLine.Action, _ body: (inout KeysetDraft) throws -> Void) throws -> OpenedKeyset {
        try host().change(Self.path, action, body)
    }

    /// A set that a stranger has signed, or the text of a set without a signature.
    ///
    /// - Parameter revoked: whether it revokes its key.
    func forged(_ epoch: Int64?, revoked: Bool = false) throws -> [UInt8] {
        let members = epoch.map {
            #""topics":["\#(LifeApp.topic)"],"epoch":\#($0),"validUntil":"2027-02-01T00:00:00Z","#
        }
        let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        let life = revoked ? #""revokedAt":"2027-01-01T00:00:00Z""# : ""
        let key = String(decoding: try PublicJWK(record)!.json, as: UTF8.self)
        let json =
            #"{"keys":[\#(key)],"pushcrypt":{"seq":99,"set":"\#(id)",\#(members ?? "")"issuedAt":"2027-01-01T00:00:00Z","#
            + #""head":"\#(Base64URL.encode([UInt8](repeating: 1, count: 32)))","keys":{"\#(record.kid)":{\#(life)}}}}"#
        guard epoch != nil else { return Array(json.utf8) }
        let stranger = try KeyRecord.generate(.publisher, backend: DefaultBackend.shared)
        return try SignedSenderSet.sign(payload: Array(json.utf8), by: [stranger])
    }
}

enum Outcome: Hashable {
    case written, unchanged, removed, publisherElsewhere
    case refused(KeystoreRefusal)
    case failed

    init(_ result: ServedResult) {
        self =
            switch result.outcome {
            case .written: .written
            case .unchanged: .unchanged
            case .removed: .removed
            case .publisherElsewhere: .publisherElsewhere
            case .refused(let refusal): .refused(refusal)
            case .failed: .failed
            }
    }
}
