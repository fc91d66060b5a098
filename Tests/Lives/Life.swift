import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport

/// A random life of a keystore on three hosts: commands, accidents, wrong clocks, attackers.
package final class Life {
    /// Why a life is broken.
    struct Broken: Error, Hashable { let what: String }

    typealias Host = (name: String, storage: MemoryStorage)
    typealias Snapshot = (path: String, file: MemoryStorage.File)

    /// What may happen: everything, or little, so that a rule shows alone.
    enum Kind: CaseIterable {
        case wild
        /// Two hosts with copies, of which one writes.
        case copies
        /// Copies beside a keyset, and lost histories.
        case files
        /// Wrong clocks that nobody has confirmed.
        case clocks
        /// Two hosts that take over from each other, and restorations of what each has.
        case forks
        /// Hosts that come back from old snapshots, and served sets that know more.
        case snapshots
    }

    let kind: Kind
    let world: World
    /// `a` and `b` have copies of the keysets; `c` may have the publisher.
    let hosts: [LifeHost]
    var signing: LifeHost
    /// Of the keyset that all is about.
    private(set) lazy var id = hosts[0].storage.disk["Keys/senders"]!.keyset.state.id
    var apps: [LifeApp] = []
    var snapshots: [Snapshot] = []
    /// Sets that were ever served.
    var documents: [[UInt8]] = []
    /// Logs that running backends have read.
    var watched: [KeysetLog] = []
    /// The keys that an operator has revoked.
    var honestlyRevoked: Set<KeyID> = []
    /// The payloads that commands have made, with the keys that the log had revoked.
    var made: [[UInt8]: Set<KeyID>] = [:]
    private var madeDocuments: Set<[UInt8]> = []
    /// Whether the life is over and everything is restored: a person may give up a publisher's key.
    var isEnding = false
    /// Whether a person has given up lines: with them goes which publisher keys signed the last set, a documented limit.
    var hasGivenUpLines = false
    /// The heads of logs that were checked: a log never changes below its head.
    var checkedHeads: Set<LogPoint> = []
    private var parsed: [[UInt8]: ServedDocument?] = [:]
    static let evil = try! KeyRecord.generate(.sender, backend: DefaultBackend.shared)
    static let secrets = try! KeysetSecrets(
        ofLog: [(SecretName("a")!, .passphrase(SecretBytes(copying: Array("a".utf8).bytes)))],
        ScryptParameters(n: 2, r: 1, p: 1))

    func need(_ condition: Bool, _ what: String) throws(Broken) {
        guard condition else { throw Broken(what: what) }
    }

    /// What lives begin with, made once: keysets, histories and sets.
    private struct Beginning {
        let disks: [[String: MemoryStorage.File]]
        let histories: [[KeysetID: KeysetHistory]]
        let served: [String: [UInt8]]
        let made: [[UInt8]: Set<KeyID>]
    }

    private static let beginnings = [0, 2].map { signing -> Beginning in
        let life = try! Life(.copies, World(), signing: signing)
        try! life.begin()
        return Beginning(
            disks: life.hosts.map(\.storage.disk), histories: life.hosts.map(\.storage.histories),
            served: life.world.served, made: life.made)
    }

    private init(_ kind: Kind, _ world: World, signing: Int) throws {
        (self.kind, self.world) = (kind, world)
        hosts = try ["a", "b", "c"].map { try LifeHost($0, world) }
        self.signing = hosts[signing]
    }

    private func begin() throws {
        let publisher = try signing.keystore().create("Pub/app", .publisher, secrets: Self.secrets)
        for path in ["Keys/senders", "Keys/other"] {
            var changes = KeysetChanges()
            changes.publication = .init(topics: [LifeApp.topic], validForInSeconds: 60 * 86_400)
            changes.epochs = [1: publisher.state.id]
            _ = try hosts[0].keystore().create(path, .sender, changes, secrets: Self.secrets)
            try publish(hosts[0], path, signer: signing)
        }
    }

    convenience init(_ seed: UInt64, in world: World) throws {
        var random = SplitMix64(seed: seed)
        let signsElsewhere = Double.random(in: 0..<1, using: &random) < 0.4
        try self.init(Self.kind(seed), world, signing: signsElsewhere ? 2 : 0)
        let beginning = Self.beginnings[signsElsewhere ? 1 : 0]
        for (host, (disk, histories)) in zip(hosts, zip(beginning.disks, beginning.histories)) {
            (host.storage.disk, host.storage.histories) = (disk, histories)
        }
        // Before the first run that is recorded, a clock may be 400 days ahead: a documented limit.
        if kind == .clocks {
            for file in hosts[0].storage.disk.values {
                try hosts[0].keystore().recordRun(of: file.keyset.state.id, status: 0)
            }
        }
        (world.served, made, madeDocuments) = (beginning.served, beginning.made, Set(beginning.served.values))
        let publisher = signing.storage.disk["Pub/app"]!.keyset
        apps = [try LifeApp(id, 1, pinning: Array(publisher.material.records.values))]
        save(hosts[0], "Keys/senders")
        save(signing, "Pub/app")
        apps[0].fetch(served(1), at: UnixTime(world.time))
        if Double.random(in: 0..<1, using: &random) < 0.6 {
            hosts[1].storage.disk["Keys/senders"] = hosts[0].storage.disk["Keys/senders"]
            hosts[1].storage.disk["Pub/app"] = signing.storage.disk["Pub/app"]
        }
    }

    /// Reads a served document, each only once.
    func document(_ bytes: [UInt8]) -> ServedDocument? {
        if let known = parsed[bytes] { return known }
        let document = ServedDocument(bytes)
        parsed[bytes] = .some(document)
        return document
    }

    /// Half of all lives are wild.
    static func kind(_ seed: UInt64) -> Kind {
        let others = Kind.allCases.dropFirst()
        return seed.isMultiple(of: 2) ? .wild : others[others.startIndex + Int(seed / 2) % others.count]
    }

    func served(_ epoch: Int64) -> [UInt8]? { world.served[name(id, epoch)] }
    func name(_ id: KeysetID, _ epoch: Int64) -> String { ServedDocument.name(id, epoch) }

    func save(_ host: LifeHost, _ path: String) {
        if let file = host.storage.disk[path] { snapshots.append((path, file)) }
    }

    /// Publishes as the command does, and checks what it wrote.
    ///
    /// - Throws: also the first refusal of a document.
    func publish(
        _ host: LifeHost, _ path: String, signer: LifeHost, confirmed: Bool = false, replacing: Bool = false,
        isUrgent: Bool = false, crash: LifeHost.Crash? = nil, transit: ((KeysetHistory) throws -> KeysetHistory)? = nil
    ) throws {
        let before = (served: world.served, history: host.storage.histories)
        let unknowing = apps.filter { !hasEvidence(for: $0, on: [host]) }
        let publishers = try ["Pub/app", "Pub/next"].filter { signer.storage.disk[$0] != nil }.map {
            try signer.keystore(confirmed).load($0)
        }
        (host.storage.crashes, signer.storage.cannotServe) = (crash == .afterFile, crash == .afterLine)
        defer { (host.storage.crashes, signer.storage.cannotServe) = (false, false) }
        let keystore = host.keystore(confirmed)
        let results: [ServedResult]
        if signer === host {
            results = try keystore.publish(path, publishers: publishers, replacing: replacing, isUrgent: isUrgent)
        } else {
            let whole = try keystore.unsigned(path, replacing: replacing)
            let sent = try transit?(whole) ?? whole
            // A person compares with what the sending host shows.
            results = try signer.keystore().signReceived(sent, publishers: publishers, replacing: replacing) {
                $0.head == whole.log.state.head
            }
        }
        for result in results {
            if let document = world.served[result.name], document != before.served[result.name] {
                // Where the whole log of a rival isn't at hand, what it did is unknown: a documented limit.
                for app in unknowing { app.isBeyondLimit = true }
                try checkPublished(document, by: host, path, before.served[result.name], before.history)
            }
        }
        for result in results {
            switch result.outcome {
            case .refused(let refusal): throw refusal
            case .failed(let error): throw error
            case .written, .unchanged:
                let publisher = host.storage.disk[path]?.keyset.state.epochs[result.epoch ?? 0]
                let keys = publishers.first { $0.state.id == publisher }?.state.keys.filter(\.hasMaterial).map(\.kid)
                let signers = try world.served[result.name].map(SignedSenderSet.namedSigners)
                try need(keys.map(Set.init) == signers, "a set that is published lacks a signature")
            default: break
            }
        }
    }

    /// Safety of a set that was written, compared with what the host could see before.
    private func checkPublished(
        _ document: [UInt8], by host: LifeHost, _ path: String, _ old: [UInt8]?, _ histories: [KeysetID: KeysetHistory]
    ) throws {
        guard let payload = SignedSenderSet.unverifiedPayload(of: document), let set = self.document(document) else {
            throw Broken(what: "a command publishes what isn't a set")
        }
        let keys = Set(try Keyset(json: payload).entries.filter { $0.lifecycle.revokedAt == nil }.map(\.record.kid))
        if let log = host.storage.disk[path]?.keyset.log {
            made[payload] = log.state.revoked
            madeDocuments.insert(document)
        }
        try need(!keys.contains(Self.evil.kid), "a set lists the key of an attacker")
        try need(honestlyRevoked.isSuperset(of: set.revoked.keys), "a set has the revocation of an attacker")
        try need(set.head.number < KeysetLine.maximumNumber / 2, "no number is left")
        if let old, let was = self.document(old), was.id == set.id,
            let oldPayload = SignedSenderSet.unverifiedPayload(of: old), let revoked = made[oldPayload]
        {
            try need(revoked.isDisjoint(with: keys), "a key that the served set revoked is published again")
            let signers = try SignedSenderSet.namedSigners(of: old)
            try need(
                isEnding || hasGivenUpLines || was.epoch != set.epoch
                    || signers.isSubset(of: SignedSenderSet.namedSigners(of: document)),
                "a set has lost the signature of a publisher key")
            if was.epoch == set.epoch {
                try need(set.head.number >= was.head.number, "apps refuse the set: a lower number")
            }
        }
        if let seen = histories[set.id], isAuthentic(seen) {
            try need(seen.log.state.revoked.isDisjoint(with: keys), "a key that the history revokes is published again")
        }
    }

    /// Whether a history is one of the keyset's.
    func isAuthentic(_ history: KeysetHistory) -> Bool {
        let files = snapshots.map(\.file) + hosts.flatMap(\.storage.disk.values)
        guard let file = files.first(where: { $0.isAuthentic && $0.keyset.state.id == history.log.state.id }) else {
            return false
        }
        return history.mac == file.keyset.material.historyKey?.mac(of: history.log)
    }

    /// Whether a file or a history of these hosts, or the served set, still shows what the app has accepted. The set must have
    /// its number, its time and its revocations.
    func hasEvidence(for app: LifeApp, on hosts: [LifeHost]) -> Bool {
        guard let accepted = app.document else { return true }
        let revoked = Set(accepted.revoked.keys)
        for host in hosts {
            let files = host.storage.disk.values.filter(\.isAuthentic).map(\.keyset.log)
            let seen = host.storage.histories.values.filter { isAuthentic($0) }.map(\.log)
            if (files + seen).contains(where: { $0.extends(accepted.head) }) { return true }
        }
        // Under the name of another keyset, a set says nothing.
        return world.served.contains { name, bytes in
            guard madeDocuments.contains(bytes), let set = document(bytes) else { return false }
            return name.hasPrefix("\(id).") && set.id == id && set.head.number >= accepted.head.number
                && set.issuedAt >= accepted.issuedAt && revoked.isSubset(of: set.revoked.keys)
        }
    }
}

/// A host of a life. Its clock may be wrong.
final class LifeHost {
    enum Crash { case afterLine, afterFile }

    let name: String
    let storage: MemoryStorage
    /// How far the clock is ahead, in seconds.
    var skew: Int64 = 0

    init(_ name: String, _ world: World) throws {
        self.name = name
        storage = try world.storage(of: name)
    }

    var clock: UnixTime { UnixTime(storage.world.time + skew) }

    func keystore(_ confirmsClock: Bool = false) -> KeystoreHost<MemoryStorage> {
        KeystoreHost(storage, name: name, who: name, clock: clock, confirmsClock: confirmsClock)
    }
}

extension KeysetState {
    func keys(with moment: KeysetChanges.Moment) -> Set<KeyID> {
        Set(keys.filter { $0.lifecycle[keyPath: moment.path] != nil }.map(\.kid))
    }

    var revoked: Set<KeyID> { Set(revocations.keys) }
}
