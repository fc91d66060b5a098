package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
package import PushCryptPrimitives

/// What `pushcrypt init` makes: folders, passphrases, keysets, the app's pins and the settings.
///
/// It changes nothing that exists, except that it adds names to `expected` in settings that it has written. All is planned before
/// anything is written, and each part is looked for before it is made, so that an interrupted setup is run again.
package struct Setup: Sendable {
    package struct NewKeyset: Hashable, Sendable {
        package let location: KeysetLocation
        package let kind: KeyKind
        /// For recipients.
        package var type = KeyPairType.p256
        /// For recipients: whether messages are sealed with a psk.
        package var demandsPSK = false

        package init(_ location: KeysetLocation, _ kind: KeyKind) {
            self.location = location
            self.kind = kind
        }
    }

    /// All but the publisher. Their keystores are made, too.
    package var keysets: [NewKeyset]
    /// In a keystore of its own. It signs epoch 1 of each sender keyset.
    package var publisher: KeysetLocation?
    /// The passphrase file of all keysets but the publisher; nil for keys in clear.
    package var passphrase: String?
    package var publisherPassphrase: String?
    /// What is signed for apps, of each sender keyset.
    package var publication: KeysetChanges.Publication?
    package var history: String
    /// The served folder.
    package var served: String?
    /// The program that runs after each change. It isn't made.
    package var after: String?
    /// The settings file.
    package var settings: String
    /// The pins of the only sender keyset, for the app's bundle.
    package var pins: String?
    package var parameters = ScryptParameters.standard
    package var context = SettingsContext()

    package static let epoch: Int64 = 1
    private static let secretName = SecretName("passphrase")!
    private static let passphraseByteCount = 32

    package init(_ keysets: [NewKeyset], history: String, settings: String) {
        self.keysets = keysets
        self.history = history
        self.settings = settings
    }

    package enum Part: Hashable, Sendable {
        case folder(String, isPrivate: Bool)
        case passphrase(String)
        case keyset(KeysetLocation)
        /// Epoch 1 of a sender keyset.
        case epoch(KeysetLocation)
        case pins(String)
        case settings(String)
    }

    package struct Item: Hashable, Sendable {
        package let part: Part
        /// Whether it was made or extended; false for what was there.
        package let isNew: Bool
    }

    /// Makes what is missing.
    ///
    /// - Parameter host: its storage finds secrets with ``newSettings``.
    /// - Returns: all parts in the order in which they are made.
    /// - Throws: as ``plan(_:)``, before anything is written; `FileError`.
    @discardableResult
    package func run(_ host: KeystoreHost<some KeystoreStorage>) throws -> [Item] {
        let items = try plan(host)
        for item in items where item.isNew { try make(item.part, host) }
        return items
    }

    /// What ``run(_:)`` makes and what is there.
    ///
    /// - Throws: `SetupConflict` for an impossible setup, and for a part that is there and isn't the one that would be made;
    ///   `SettingsError`; `FileError` for a folder that others can open or that can't be written; `KeystoreError` for a
    ///   passphrase file; the errors of the storage; `KeystoreRefusal` with `olderThanHistory`, `twoHistories`.
    package func plan(_ host: KeystoreHost<some KeystoreStorage>) throws -> [Item] {
        try requirePossible(host)
        return try parts.map { Item(part: $0, isNew: try !isThere($0, host)) }
    }

    /// The settings that are written.
    package var newSettings: Settings {
        var new = Settings(path: settings, context)
        for location in all.map(\.location) {
            let keystore = Settings.absolute(location.keystore)
            if !new.keystores.contains(keystore) { new.keystores.append(keystore) }
        }
        new.history = Settings.absolute(history)
        new.secret = passphrase.map { .file(Settings.absolute($0)) }
        if let publisher, let publisherPassphrase, publisherPassphrase != passphrase {
            new.secrets[publisher.name] = .file(Settings.absolute(publisherPassphrase))
        }
        new.publishTo = served.map(Settings.absolute)
        new.after = after.map(Settings.absolute)
        new.expected = all.map(\.location.name)
        return new
    }

    private var all: [NewKeyset] { keysets + (publisher.map { [NewKeyset($0, .publisher)] } ?? []) }
    private var senders: [NewKeyset] { keysets.filter { $0.kind == .sender } }

    private func passphrase(of keyset: NewKeyset) -> String? {
        keyset.location == publisher ? publisherPassphrase : passphrase
    }

    private func requirePossible(_ host: KeystoreHost<some KeystoreStorage>) throws {
        func require(_ condition: Bool, _ code: SetupConflict.Code) throws(SetupConflict) {
            guard condition else { throw SetupConflict(code, settings) }
        }
        try require(Set(all.map(\.location.name)).count == all.count, .sameName)
        try require(keysets.allSatisfy { $0.kind != .publisher }, .publisherAmongOthers)
        if let publisher {
            try require(keysets.allSatisfy { $0.location.keystore != publisher.keystore }, .publisherAmongOthers)
            // A given secret demands encryption.
            try require(passphrase == nil || publisherPassphrase != nil, .publisherInClear)
            try require(senders.isEmpty || publication != nil, .noPublication)
        }
        try require(pins == nil || publisher != nil && senders.count == 1, .noPinnedSet)
        try publication?.requireLimits()
        // What a reader would refuse.
        _ = try Settings(json: newSettings.json, path: settings, context)
        for sender in senders {
            _ = try KeysetLog(creating: .random(), sender.kind, at: host.clock, who: host.who, changes(of: sender))
        }
    }

    private var parts: [Part] {
        let parent = { (path: String) in Part.folder(FileSystem.parent(of: Settings.absolute(path)), isPrivate: false) }
        let passphrases = [passphrase, publisherPassphrase].compactMap(\.self)
        let keystores = all.map { Part.folder($0.location.keystore, isPrivate: true) }
        let others = [Part.folder(history, isPrivate: true)] + (served.map { [.folder($0, isPrivate: false)] } ?? [])
        // The publisher first, because an epoch names it.
        let made = all.sorted { $0.kind == .publisher && $1.kind != .publisher }.map { Part.keyset($0.location) }
        let epochs = publisher == nil ? [] : senders.map { Part.epoch($0.location) }
        let pins = pins.map { [parent($0), .pins($0)] } ?? []
        let parts =
            keystores + others + passphrases.flatMap { [parent($0), .passphrase($0)] } + made + epochs + pins
            + [parent(settings), .settings(settings)]
        var seen: Set<Part> = []
        return parts.filter { seen.insert($0).inserted }
    }
}

/// Why a setup isn't made.
package struct SetupConflict: Error, Hashable, Sendable {
    package enum Code: String, Sendable {
        /// Two keysets have one name, by which the settings name secrets.
        case sameName
        /// The publisher isn't in a keystore of its own.
        case publisherAmongOthers
        /// The other keysets are encrypted, and the publisher isn't.
        case publisherInClear
        /// Nothing says for which apps and how long a sender keyset is signed.
        case noPublication
        /// Pins need a publisher and exactly one sender keyset.
        case noPinnedSet
        case notAFolder
        case otherKind
        case otherPublication
        /// The keyset belongs to another host.
        case otherWriter
        /// Another publisher signs the epoch.
        case otherPublisher
        /// The file has the pins of another set or epoch.
        case otherPins
        /// The settings lack a keystore, or name another secret, history or served folder.
        case otherSettings
    }

    package let code: Code
    /// The file or folder; the settings for a setup that is impossible in itself.
    package let path: String

    init(_ code: Code, _ path: String) {
        self.code = code
        self.path = path
    }
}

/// Looking for the parts.
extension Setup {
    private func isThere(_ part: Part, _ host: KeystoreHost<some KeystoreStorage>) throws -> Bool {
        switch part {
        case .folder(let path, let isPrivate): return try hasFolder(path, isPrivate)
        case .passphrase(let path):
            guard try FileStatus.at(path) != nil else { return false }
            _ = try KeysetSecret.passphraseFile(path)
            return true
        case .keyset(let location): return try isThere(all.first { $0.location == location }!, host)
        case .epoch(let location):
            guard let named = try host.storage.keyset(location.path)?.log.state.epochs[Self.epoch] else { return false }
            guard try named == publisher.flatMap({ try host.storage.keyset($0.path) })?.log.state.id else {
                throw SetupConflict(.otherPublisher, location.path)
            }
            return true
        case .pins(let path):
            guard try FileStatus.at(path) != nil else { return false }
            let pins = try SenderSetPins(json: FileSystem.readFoundFile(path))
            let set = try host.storage.keyset(senders[0].location.path)?.log.state.id.bytes
            guard pins.set == set, pins.epoch == Self.epoch else { throw SetupConflict(.otherPins, path) }
            return true
        case .settings(let path): return try hasSettings(path)
        }
    }

    private func hasFolder(_ path: String, _ isPrivate: Bool) throws -> Bool {
        guard let status = try FileStatus.at(path, followingLinks: !isPrivate) else {
            let above = try nearest(path)
            guard FileSystem.isFolder(above) else { throw SetupConflict(.notAFolder, above) }
            try FileSystem.requireChangeable(above)
            return false
        }
        guard status.kind == .folder else { throw SetupConflict(.notAFolder, path) }
        if isPrivate { try status.access.check(.ownerOnly, path) }
        return true
    }

    /// The path, or what exists of the folders above it.
    private func nearest(_ path: String) throws(FileError) -> String {
        let path = path.isEmpty ? "." : path
        guard try FileStatus.at(path, followingLinks: true) == nil else { return path }
        return try nearest(FileSystem.parent(of: path))
    }

    private func isThere(_ new: NewKeyset, _ host: KeystoreHost<some KeystoreStorage>) throws -> Bool {
        let path = new.location.path
        // Refuses keys in clear if they should be encrypted, and the reverse.
        guard let keyset = try host.storage.keyset(path)?.opened() else { return false }
        let state = keyset.state
        try host.requireExtension(keyset.log, of: host.storage.history(of: state.id))
        guard state.kind == new.kind else { throw SetupConflict(.otherKind, path) }
        // A keyset that was made by itself is signed from now on: its epoch comes next.
        let isOther = state.publication != changes(of: new).publication
        if isOther, state.publication != nil { throw SetupConflict(.otherPublication, path) }
        guard state.writer == host.name else { throw SetupConflict(.otherWriter, path) }
        return true
    }

    private func hasSettings(_ path: String) throws -> Bool {
        guard try FileStatus.at(path) != nil else {
            // A file in this place must be one that a reader accepts.
            let above = try nearest(Settings.absolute(path))
            try TrustedPath.walk(above, nil, context, allowingSticky: true)
            return false
        }
        let (old, new) = (try Settings(reading: path, context), newSettings)
        let sameSecrets = all.map(\.location.name).allSatisfy { name in
            (old.secrets[name] ?? old.secret) == (new.secrets[name] ?? new.secret)
        }
        guard sameSecrets, Set(old.keystores).isSuperset(of: new.keystores), old.history == new.history,
            new.publishTo == nil || old.publishTo == new.publishTo
        else { throw SetupConflict(.otherSettings, path) }
        // What a person has written stays, with its comments.
        return try Set(old.expected).isSuperset(of: new.expected) || FileSystem.readFoundFile(path) != old.json
    }
}

/// Making the parts.
extension Setup {
    private func make(_ part: Part, _ host: KeystoreHost<some KeystoreStorage>) throws {
        switch part {
        case .folder(let path, let isPrivate): try makeFolder(path, mode: isPrivate ? 0o700 : 0o755)
        case .passphrase(let path): try makePassphrase(path)
        case .keyset(let location):
            let new = all.first { $0.location == location }!
            let secrets = try passphrase(of: new).map { path in
                try KeysetSecrets(ofLog: [(Self.secretName, .passphraseFile(path))], parameters)
            }
            _ = try host.create(
                location.path, new.kind, changes(of: new), type: new.type, psk: new.demandsPSK, secrets: secrets)
        case .epoch(let location):
            let id = try opened(publisher, host).state.id
            _ = try host.change(location.path, .policy) { draft in
                if draft.state.publication == nil { draft.changes.publication = publication }
                draft.changes.epochs[Self.epoch] = .some(id)
            }
        case .pins(let path): try makeFile(path, newPins(host), mode: 0o644)
        case .settings(let path):
            guard try FileStatus.at(path) != nil else { return try makeFile(path, newSettings.json, mode: 0o644) }
            var settings = try Settings(reading: path, context)
            settings.expected += newSettings.expected.filter { !settings.expected.contains($0) }
            try FileSystem.replace(path, with: settings.json, mode: 0o644)
        }
    }

    private func changes(of new: NewKeyset) -> KeysetChanges {
        var changes = KeysetChanges()
        if new.kind == .sender { changes.publication = publication }
        if passphrase(of: new) != nil { changes.secrets = [Self.secretName] }
        return changes
    }

    /// - Throws: `KeystoreRefusal` with `missing`.
    private func opened(
        _ location: KeysetLocation?, _ host: KeystoreHost<some KeystoreStorage>
    ) throws -> OpenedKeyset {
        let path = location?.path ?? ""
        guard let found = try host.storage.keyset(path) else { throw KeystoreRefusal.missing(path: path) }
        return try found.opened()
    }

    private func newPins(_ host: KeystoreHost<some KeystoreStorage>) throws -> [UInt8] {
        try opened(senders[0].location, host).pins(epoch: Self.epoch) { _ in try opened(publisher, host) }
    }

    /// Folders above it are made with mode 0755.
    private func makeFolder(_ path: String, mode: Int) throws(FileError) {
        guard !path.isEmpty, !FileSystem.isFolder(path) else { return }
        try makeFolder(FileSystem.parent(of: path), mode: 0o755)
        try Folder.makeIfMissing(path)
        try FileSystem.setMode(mode, of: path)
        try FileSystem.folder(of: path).synchronize()
    }

    private func makePassphrase(_ path: String) throws {
        let secret = try DefaultBackend.shared.randomSecret(count: Self.passphraseByteCount)
        var text = [UInt8]()
        // An array that grows would leave a copy.
        text.reserveCapacity(2 * Self.passphraseByteCount)
        defer { wipe(&text) }
        Base64URL.append(secret.bytes, to: &text)
        text.append(UInt8(ascii: "\n"))
        try makeFile(path, text, mode: 0o600)
    }

    private func makeFile(_ path: String, _ bytes: [UInt8], mode: Int) throws(FileError) {
        let file = try NewFile(path, mode: mode)
        try file.append(bytes)
        file.markWhole()
        try file.publish()
    }
}
