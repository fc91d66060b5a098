import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// The sets of one name or of all names in a folder: what is served, and the numbered copies (NAME.SEQ.json, NAME.SEQ.jwks.json).
struct ServedHistory: Sendable {
    private let files: [File]
    /// By rising `seq`; what is served after its copy.
    private let sets: [ServedSet]
    /// The numbered copy with the highest number; nil if there is none.
    let newestCopy: ServedSet?
    /// The other keysets of the keystore. Their sets aren't later sets of a keyset, even under a name that it has used.
    private var others: [KeysetMetadata] = []

    /// Reads the sets of all names: a key is in no other keyset.
    init(in folder: Folder) {
        let names = (try? folder.names()) ?? []
        self.init([true, false].flatMap { Self.files(names, isSigned: $0, folder) })
    }

    /// The same files, compared for a keyset that has these neighbours.
    func beside(_ others: [KeysetMetadata]) -> ServedHistory {
        var history = self
        history.others = others
        return history
    }

    private init(_ files: [File]) {
        self.files = files
        let copies = files.filter { $0.set != nil && $0.number != nil }
        newestCopy = copies.max { ($0.number ?? 0) < ($1.number ?? 0) }?.set
        sets = files.compactMap(\.set).sorted {
            ($0.sequence, -$0.path.utf8.count) < ($1.sequence, -$1.path.utf8.count)
        }
    }

    /// The sets of one name.
    ///
    /// - Parameter isSigned: only signed sets or only public keys; nil for both.
    func of(_ name: String, isSigned: Bool? = nil) -> ServedHistory {
        ServedHistory(
            files.filter { file in
                (isSigned ?? file.isSigned) == file.isSigned && (file.stem == name || file.name == name)
            }
        ).beside(others)
    }

    private struct File {
        let path: String
        let isSigned: Bool
        /// Without suffix.
        let stem: Substring
        /// Of the set, without number and suffix.
        let name: Substring
        /// Of a numbered copy.
        let number: Int64?
        /// nil for a file that isn't a set.
        let set: ServedSet?
    }

    private static func files(_ names: [String], isSigned: Bool, _ folder: Folder) -> [File] {
        let suffix = ServedSet.suffix(isSigned: isSigned)
        return names.compactMap { file in
            guard file.hasSuffix(suffix), isSigned != file.hasSuffix(ServedSet.suffix(isSigned: false)) else {
                return nil
            }
            let stem = file.dropLast(suffix.count)
            let dot = stem.lastIndex(of: ".")
            let number = dot.flatMap { Int64(stem[stem.index(after: $0)...]) }
            let ownName = number == nil ? stem : stem[..<(dot ?? stem.endIndex)]
            let path = folder.path(of: file)
            let bytes = try? folder.read(file).bytes
            return File(
                path: path, isSigned: isSigned, stem: stem, name: ownName, number: number,
                set: bytes.flatMap { ServedSet($0, path: path, isSigned: isSigned) })
        }
    }

    var isEmpty: Bool { files.isEmpty }
    /// The newest set of each name, signed or not, or its newest numbered copy, by path.
    var newestOfNames: [ServedSet] {
        Dictionary(grouping: sets) { $0.nameOfCopies + ServedSet.suffix(isSigned: $0.isSigned) }.values.compactMap(
            \.last
        )
        .sorted { $0.path < $1.path }
    }
    var highestSequence: Int64? { sets.last?.sequence }

    /// The sets without their numbered copies.
    var served: [ServedSet] { files.filter { $0.number == nil }.compactMap(\.set).sorted { $0.path < $1.path } }

    /// The numbered copies of a name that can't be read as sets. A file of another name needn't be a copy.
    func damagedCopies(of name: String) -> [(path: String, sequence: Int64)] {
        files.filter { $0.set == nil && $0.name == name }.compactMap { file in file.number.map { (file.path, $0) } }
    }

    /// Whether a numbered copy is a set of a keyset.
    func hasCopy(of metadata: KeysetMetadata) -> Bool {
        files.contains { $0.number != nil && $0.set?.belongs(to: metadata) == true }
    }

    /// A name whose newest numbered copy is a set of another keyset.
    struct OtherKeyset {
        let name: String
        /// The newest numbered copy.
        let copy: ServedSet
        /// The other keyset; nil if it isn't in the keystore.
        let path: String?
        /// Whether the other keyset had this name first, and its folder has another one.
        let isRenamed: Bool
        /// The name that this keyset had first; nil if it has no numbered copy, or if it is an old copy of the other one.
        let home: String?
    }

    /// A name keeps its keyset: nil if the name has no numbered copy, or one of the keyset, or only stray ones, which are also under the own
    /// name of their keyset. An old copy of a keyset has none of its later sets, if that one lies under another name.
    ///
    /// - Parameters:
    ///   - log: of this keyset. Public keys don't name their keyset. The log tells whether this one has ever had them; without it they may
    ///     be an earlier or later state of this keyset, unless it has another name.
    ///   - others: the other keysets of the keystore.
    func otherKeyset(
        of name: String, isSigned: Bool, _ metadata: KeysetMetadata, _ log: AuditLog?,
        _ others: [(path: String, metadata: KeysetMetadata)]
    ) -> OtherKeyset? {
        func copies(_ name: String) -> [ServedSet] {
            of(name, isSigned: isSigned).files.filter { $0.number != nil }.compactMap(\.set)
        }
        let own = copies(name)
        guard let newest = own.max(by: { $0.sequence < $1.sequence }), !newest.belongs(to: metadata) else { return nil }
        let owner = others.first { newest.belongs(to: $0.metadata) }
        let isRenamed =
            owner.map { FileSystem.name(of: $0.path) != name && self.home(of: $0.metadata) == name } ?? false
        guard !own.contains(where: { $0.belongs(to: metadata) }) else {
            return isRenamed
                ? OtherKeyset(name: name, copy: newest, path: owner?.path, isRenamed: true, home: nil) : nil
        }
        let home = home(of: metadata)
        if let owner {
            let ownersName = FileSystem.name(of: owner.path)
            let kept = Set(copies(ownersName).map(\.payload))
            let isStray =
                ownersName != name
                && own.filter { $0.belongs(to: owner.metadata) }.allSatisfy { kept.contains($0.payload) }
            guard !isStray else { return nil }
        } else if !isSigned, home == nil {
            guard let log, own.allSatisfy({ $0.hasOnlyForeignKeys(metadata.timeline, log) }) else { return nil }
        }
        return OtherKeyset(name: name, copy: newest, path: owner?.path, isRenamed: isRenamed, home: home)
    }

    /// The name under which a keyset was published first, as the numbered copies show; nil if it has none.
    func home(of metadata: KeysetMetadata) -> String? {
        files.filter { $0.number != nil && $0.set?.belongs(to: metadata) == true }
            .min { ($0.number ?? 0, $0.name) < ($1.number ?? 0, $1.name) }.map { String($0.name) }
    }

    /// Whether a name has a set of a keyset, or a numbered copy of one.
    func hasSet(of metadata: KeysetMetadata) -> Bool { sets.contains { $0.belongs(to: metadata) } }

    /// Whether a numbered copy of any name has a set.
    func hasCopy(of set: ServedSet) -> Bool {
        files.contains { $0.number == set.sequence && $0.isSigned == set.isSigned && $0.set?.payload == set.payload }
    }

    /// The sets of one name that have another epoch than its oldest numbered copy.
    struct OtherEpochs {
        /// Not empty.
        let sets: [ServedSet]
        /// The oldest numbered copy.
        let record: ServedSet
        /// The newest set that has its epoch.
        let newest: ServedSet

        /// The epoch of the apps that fetch the name.
        var epoch: Int64 { record.publication?.epoch ?? 0 }

        /// Such as "www/senders.json has epoch 2, and www/senders.1.json, the oldest copy, has epoch 1: [...]".
        var fault: String {
            let paths = sets.map(\.path).joined(separator: ", ")
            let epochs = Set(sets.compactMap { $0.publication?.epoch }).sorted().map(String.init)
            return
                "\(paths) \(sets.count == 1 ? "has" : "have") epoch \(epochs.joined(separator: ", ")), and \(record.path), the oldest "
                + "copy, has epoch \(epoch): the apps that fetch this name refuse other epochs"
        }

        /// The commands that move the sets away, with `&&` between them.
        var moveAway: String { sets.map { PublishedKeyset.moveAway($0.path) }.joined(separator: " && ") }
    }

    /// A name keeps its epoch. nil if it does. Only of the sets of one name.
    var otherEpochs: OtherEpochs? {
        let copies = files.filter { $0.number != nil }.compactMap { file in file.set.map { (file.number ?? 0, $0) } }
        guard let record = copies.filter({ $0.1.isSigned }).min(by: { $0.0 < $1.0 })?.1 else { return nil }
        let others = sets.filter { $0.hasOtherEpoch(than: record) }
        let newest = sets.last { $0.publication?.set == record.publication?.set && !$0.hasOtherEpoch(than: record) }
        return others.isEmpty ? nil : OtherEpochs(sets: others, record: record, newest: newest ?? record)
    }

    /// The signed set with the highest `seq` that has the id of a set.
    func newest(of set: SenderSetPublication) -> ServedSet? { sets.last { $0.publication?.set == set.set } }

    /// The sets of a keyset. A later one of the same name is one of them, too, if it has no signature, which names the keyset: an old
    /// copy may have none of the later keys.
    private func own(_ metadata: KeysetMetadata) -> [ServedSet] {
        let names = Set(sets.filter { !$0.isSigned && $0.belongs(to: metadata) }.map(\.nameOfCopies))
        return sets.filter { set in
            set.belongs(to: metadata)
                || !set.isSigned && names.contains(set.nameOfCopies)
                    && set.keys.hasKind(of: metadata) && !others.contains(where: set.belongs)
        }
    }

    func hasSet(at path: String, of metadata: KeysetMetadata) -> Bool { own(metadata).contains { $0.path == path } }

    /// The newest numbered copies of the keyset's sets whose file itself, NAME.json or NAME.jwks.json, isn't there.
    func lostSets(of metadata: KeysetMetadata) -> [ServedSet] {
        func file(_ name: Substring, isSigned: Bool) -> String { name + ServedSet.suffix(isSigned: isSigned) }
        let present = Set(files.filter { $0.number == nil }.map { file($0.name, isSigned: $0.isSigned) })
        let names = Dictionary(grouping: own(metadata)) { file($0.nameOfCopies[...], isSigned: $0.isSigned) }
        return names.filter { !present.contains($0.key) }.compactMap(\.value.last).sorted { $0.path < $1.path }
    }

    /// The public keys without a signature with the highest `seq` of a keyset.
    func newestKeys(of metadata: KeysetMetadata) -> ServedSet? { own(metadata).last { !$0.isSigned } }

    /// The numbered copy with the highest number, if it is one of a keyset's sets.
    func newestCopy(of metadata: KeysetMetadata) -> ServedSet? {
        newestCopy.flatMap { copy in own(metadata).contains { $0.path == copy.path } ? copy : nil }
    }

    /// The last signed set that shows that a publisher keyset has a key which was destroyed.
    func refusal(of publisher: PublisherKeyset) -> PublisherKeyset.Difference? {
        let cosigners = sets.filter { !publisher.isForeign(to: $0) }.reduce(into: Set<KeyID>()) {
            $0.formUnion($1.signers)
        }
        return sets.lazy.reversed().compactMap { publisher.difference(from: $0, cosigners: cosigners) }
            .first(where: \.revivesKey)
    }

    /// A signed set with this number that names other signers; nil if there is none.
    func signed(byOthersThan signers: Set<KeyID>, at sequence: Int64) -> ServedSet? {
        sets.first { $0.isSigned && $0.sequence == sequence && $0.signers != signers }
    }

    /// Whether a set with this number, or its numbered copy, isn't that of the keyset and the publishers, so that the number can't be
    /// published again.
    ///
    /// - Parameter signers: nil if they aren't known.
    func hasOther(than metadata: KeysetMetadata, _ signers: Set<KeyID>?) -> Bool {
        sets.contains { set in
            set.sequence == metadata.sequence
                && (!set.isSet(of: metadata) || set.isSigned && signers.map { $0 != set.signers } ?? false)
        }
    }

    /// That apps which have fetched one of the sets refuse a signed set; nil if they don't.
    func refusal(of set: SenderSetPublication) -> String? { sets.lazy.compactMap { $0.refusal(of: set) }.first }

    /// A key that the keyset uses and a set doesn't allow.
    struct GivenUpKey {
        let kid: KeyID
        /// Such as "www/senders.json revokes key KID, which the keyset doesn't".
        let reason: String
        /// The path of the set that lacks the key, if that set has no key of the keyset: it may be another keyset's. nil otherwise.
        var otherSet: String?
    }

    /// The keys that a set revokes and the keyset doesn't, each with the last set that shows it, and those that the newest set lacks
    /// although they are older than it, or in an earlier set. A later set may lack a revoked key, because it was destroyed since.
    ///
    /// - Parameter time: the clock's. A set of a later time was made under a wrong clock, and says nothing about older keys.
    func givenUp(by metadata: KeysetMetadata, at time: UnixTime) -> [GivenUpKey] {
        let timeline = metadata.timeline
        let revived = Set(sets.flatMap { $0.keys.revived(by: timeline) })
        let revoked = revived.sorted().compactMap { kid in
            sets.last { $0.keys.revived(by: timeline).contains(kid) }.map {
                GivenUpKey(kid: kid, reason: "\($0.path) revokes key \(kid), which the keyset doesn't")
            }
        }
        let own = own(metadata)
        guard let newest = own.last(where: { !$0.isFromFuture(metadata.policy, at: time) }) else { return revoked }
        let name = "\(newest.path), seq \(newest.sequence),"
        let isOther = !newest.belongs(to: metadata)
        let earlier = own.filter { $0.sequence < newest.sequence }
        let listed = Set(earlier.flatMap(\.keys.kids))
        let destroyed = newest.lacking(timeline).filter { key in
            !revived.contains(key.kid) && (listed.contains(key.kid) || newest.isLater(than: key.lifecycle))
        }.map(\.kid).sorted().map {
            GivenUpKey(
                kid: $0,
                reason: "\(name) lacks key \($0), which is older: it was destroyed or lost since"
                    + (isOther ? ", unless the file is another keyset's: then move it away" : ""),
                otherSet: isOther ? newest.path : nil)
        }
        return revoked + destroyed
    }
}
