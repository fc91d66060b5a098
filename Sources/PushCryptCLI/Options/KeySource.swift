import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptSender

/// Keys that the command line names: a FILE (one JWK or a JWK set) or a keyset of a keystore: Keys/NAME, Keys/NAME.keyset,
/// Keys/NAME#ID.
struct KeySource: Sendable {
    private let path: String
    private let place: KeysetPlace
    private var unlocked: UnlockedKeyset
    private let isKeyset: Bool
    private let requiresEncryption: Bool
    /// As in `SecretSource.arguments`.
    private let secretArguments: String
    private var confirmsClock = false

    var keyset: Keyset { unlocked.keyset }

    /// - Parameters:
    ///   - allowsPublic: whether to accept a FILE without private keys although a secret is given, because the secret is for
    ///     another keyset of the command. A keyset of a keystore is never accepted without them.
    init(_ path: String, _ access: KeyAccess, allowsPublic: Bool = false) throws {
        let secret = access.secrets.source(of: path, acceptingDemoKeys: access.allowsDemoKeys)
            .expecting(access.expected)
        try self.init(path, secret, allowsPublic: allowsPublic)
        confirmsClock = access.confirmsClock
        unlocked.keyset.allowsLowerSuite = access.allowsLowerSuite
        try refuseDemoKeys(unless: access.allowsDemoKeys)
    }

    private func refuseDemoKeys(unless areAllowed: Bool) throws {
        guard areAllowed || !DemoKeys.contains(keyset) else {
            throw Failure(
                .usage,
                "\(path) contains published demo keys, which protect nothing; to accept them, add --allow-demo-keys")
        }
    }

    /// Reads the keys again, with the secret that unlocked them before. It asks nobody for another one.
    ///
    /// - Throws: `KeysetReplacementRefusal` for keys that went back.
    func readAgain(allowsDemoKeys: Bool, allowsPublic: Bool = false) throws -> KeySource {
        let known = SecretSource(unlocked.secret, acceptingDemoKeys: allowsDemoKeys).named(by: secretArguments)
        let secret = requiresEncryption ? known.required(acceptingDemoKeys: allowsDemoKeys) : known
        let new = try KeySource(path, secret, allowsPublic: allowsPublic)
        try new.refuseDemoKeys(unless: allowsDemoKeys)
        _ = try unlocked.isReplaced(by: new.unlocked, at: path)
        return new
    }

    /// The file that `init(_:_:)` reads.
    static func file(of path: String) -> String { place(of: path).filePath }

    /// Names mean nothing, so `Keys/NAME#ID` also demands the keyset with this id.
    private static func place(of path: String) -> KeysetPlace {
        let parts = path.split(separator: "#", omittingEmptySubsequences: false)
        if parts.count > 1, let id = KeysetID(parts[parts.count - 1].utf8) {
            return KeysetPlace(file: String(path.dropLast(id.description.utf8.count + 1)), id: id)
        }
        let place = KeysetPlace(file: path)
        return FileSystem.isFolder(place.filePath) ? KeysetPlace(folder: path) : place
    }

    /// Accepts demo keys: for commands that only show keys.
    init(_ path: String, _ secret: SecretSource, allowsPublic: Bool = false) throws {
        self.path = path
        requiresEncryption = secret.isGiven
        secretArguments = secret.arguments
        let place = Self.place(of: path)
        self.place = place
        let isFolder = place.folder != nil
        if isFolder { try Self.requireKeyset(path, secret.arguments) }
        unlocked = try Self.naming(path, secret.arguments) {
            try place.read(acceptingPipes: true).unlocked(secret, allowsPublic: allowsPublic)
        }
        isKeyset = isFolder || unlocked.log != nil
        StandardStreams.writeDetail(
            "\(path): \(NumberText.counted(keyset.entries.count, "\(keyset.kind.rawValue) key"))")
        if isFolder, let note = try KeysetStore(path).unconfirmedRestoration(secret.arguments) {
            StandardStreams.writeNote(note)
        }
        FaultPoint.reach("keys-read")
    }

    /// The key to seal to: the public key of a keyset's primary key, or the public key of a file.
    func recipient(device: DeviceID?, at time: UnixTime) throws -> Recipient {
        let entry = try sealingEntry(device: device, at: time)
        return try Self.naming(path) { try Recipient(entry) }
    }

    /// The entry of the key to seal to, from which device keys are derived.
    func sealingEntry(device: DeviceID? = nil, at time: UnixTime) throws -> Keyset.Entry {
        try refuseSlowClock(at: time)
        let chosen = try forDevice(device)
        return try Self.naming(path) {
            try (isKeyset ? chosen.publicKeyset(keepingPSK: true) : chosen).sealingEntry(at: time)
        }
    }

    func senderKey(at time: UnixTime) throws -> SenderKey {
        try refuseSlowClock(at: time)
        return try Self.naming(path) { try keyset.senderKey(at: time) }
    }

    /// A message has the time of the clock. Under a slow clock it would have expired when it arrives. The record of a device has
    /// the time of the device's clock, which may be ahead.
    private func refuseSlowClock(at time: UnixTime) throws {
        let isDevice = !isKeyset && keyset.kind == .recipient
        guard !isDevice, !confirmsClock, let objection = keyset.timeline.clockIsBehind(at: time) else { return }
        throw Failure(
            .temporary,
            "\(path): \(objection): a push sealed now could have expired when it arrives; set the clock. If it is right, an "
                + "earlier run had a wrong clock: see docs/runbooks/wrong-clock.md, and seal with --confirm-clock until then"
        )
    }

    /// Follows the changes of the keys from now on. Keys from a pipe don't change. stderr shows a change, and why a new keyset
    /// is refused.
    func followed(allowsDemoKeys: Bool, clock: @escaping @Sendable () -> UnixTime) throws -> FollowedKeys {
        var known = unlocked
        // A sender needs no private halves of recipient keys.
        if isKeyset, keyset.kind == .recipient { known.keyset = try keyset.publicKeyset(keepingPSK: true) }
        guard known.canBeReadAgain else { return .fixed(known.keyset, clock: clock) }
        let watcher = try Self.naming(path) {
            try KeysetWatcher(
                place, known, allowsDemoKeys: allowsDemoKeys, logger: StandardErrorLog.logger, clock: clock)
        }
        return .watched(watcher, clock: clock)
    }

    /// - Parameter sender: the name of the sender, which distinguishes it from others.
    func trustedSenders(of sender: String) throws -> TrustedSenders {
        try Self.naming(path) { try TrustedSenders(keyset, name: sender) }
    }

    /// The keys to open with. Refuses a set in which no key can open.
    func openingKeyset(device: DeviceID?) throws -> Keyset {
        let chosen = try forDevice(device)
        if chosen.kind == .recipient, let entry = chosen.entries.first,
            !chosen.entries.contains(where: \.record.isPrivateAsymmetric)
        {
            throw Failure(
                .dataError,
                "\(path): key \(entry.record.kid) is a public key, which can only seal; to open, give the keyset's folder "
                    + "(Keys/NAME) or a file with the private key")
        }
        if chosen.entries.allSatisfy({ entry in (try? RecipientKey(entry)) == nil }) {
            _ = try Self.naming(path) { try RecipientKey(chosen.entries[0]) }
        }
        return chosen
    }

    /// Notes a slow clock, under which a push seems to come from the future.
    func noteSlowClock(at time: UnixTime) {
        guard let objection = keyset.timeline.clockIsBehind(at: time) else { return }
        StandardStreams.writeNote("\(path): \(objection): a push may seem to come from the future; set the clock")
    }

    func forDevice(_ device: DeviceID?) throws -> Keyset {
        guard let device else { return keyset }
        guard keyset.kind == .shared else {
            throw Failure(.usage, "--device is only for shared keys; these are \(keyset.kind.rawValue) keys")
        }
        return try keyset.device(device)
    }

    /// The lifecycles and the policy of a keyset or a FILE, which need no secret. A note tells that a keyset is older than its log.
    static func metadata(of path: String) throws -> KeysetMetadata { try notedMetadata(of: path).metadata }

    /// - Returns: also the text of the note, if there is one.
    static func notedMetadata(of path: String) throws -> (metadata: KeysetMetadata, problem: String?) {
        guard FileSystem.isFolder(path) else {
            var bytes = try FileSystem.readFile(path)
            defer { wipe(&bytes) }
            return try naming(path) {
                let hasMetadata = (try? JSONText(bytes).root["pushcrypt"]) != nil
                let metadata =
                    try hasMetadata ? KeysetFile(bytes, path: path).metadata : KeysetMetadata(Keyset(json: bytes))
                return (metadata, nil)
            }
        }
        try requireKeyset(path)
        let file = try naming(path) { try KeysetFolder(path).file() }
        let later = file.laterChanges?.description ?? file.laterFile?.description
        let problem = later.map { later in
            "\(later). No command uses it: run `pushcrypt keys doctor \(ShellArgument.quoted(path))`"
        }
        if let problem { StandardStreams.writeNote("\(path): \(problem)") }
        return (file.metadata, problem)
    }

    /// Why changes refuse the audit log of a keyset, and what to do; nil if they don't.
    static func logProblem(of path: String, _ metadata: KeysetMetadata) throws -> String? {
        guard !DemoKeys.covers(metadata.timeline.keys.map(\.kid)) else { return nil }
        let log = try KeysetFolder(path).auditLog(in: KeystoreError.convertingFileErrors { try Folder(path) })
        guard case .broken(let flaw) = log.condition(metadata.audit) else { return nil }
        return "the audit log is broken: \(flaw). Changes of the keyset are refused: find out why, then run "
            + "`\(AuditLog.restartCommand(path))`"
    }

    /// - Parameters:
    ///   - secretArguments: as in `SecretSource.arguments`, also below.
    ///   - hasAll: whether the command has --all.
    /// - Throws: `Failure` with 66 if the path isn't a keyset's folder; `KeystoreError` with `noPermission` if this user can't
    ///   look into it.
    static func requireKeyset(_ path: String, _ secretArguments: String = "", hasAll: Bool = false) throws {
        guard try !KeysetFolder(path).exists else { return }
        let list = "`pushcrypt keys list KEYSTORE` shows those of a keystore"
        let cause =
            if !FileSystem.exists(path) {
                "there is no such folder. \(list)"
            } else if !FileSystem.isFolder(path) {
                restoringBackup(path, secretArguments) ?? "it is a file; give the folder. \(list)"
            } else if let keyset = (try? Keystore(path).everyKeyset())?.first(where: { $0 != KeysetFolder(path).path })
            {
                "it is a keystore. Give one of its keysets, such as \(keyset)"
                    + (hasAll ? ", or add --all for all of them" : "")
            } else if FileSystem.exists("\(path)/\(KeysetFolder.auditName)") {
                throw Failure(
                    .noInput,
                    "\(path) has an audit log, but no \(KeysetFolder.keysetName). "
                        + restoring(path, secretArguments))
            } else {
                "it has no keyset.json. \(list)"
            }
        throw Failure(.noInput, "\(path) is not a keyset of a keystore: \(cause)")
    }

    /// Adds the file's path to an error about a key or its lifecycle, and the remedy for a `keyset.json` that can't be parsed.
    static func naming<Result>(
        _ path: String, _ secretArguments: String = "", _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch  where error is KeyError || error is LifecycleError {
            let failure = Failure(error)
            if let failure = unreadable(path, error, secretArguments) { throw failure }
            // An error in a file is bad data, even one that would be bad usage of an option.
            throw Failure(failure.status == .usage ? .dataError : failure.status, "\(path): \(failure.message)")
        }
    }
}

extension KeySource {
    /// The error about a `keyset.json` that isn't one, or about a backup in place of keys, with its remedy; nil if the error is
    /// another one.
    static func unreadable(_ path: String, _ error: any Error, _ secretArguments: String) -> Failure? {
        guard let error = error as? KeyError, error.code == .malformed else { return nil }
        guard FileSystem.isFolder(path) else {
            return restoringBackup(path, secretArguments).map {
                Failure(.dataError, "\(path) has no keys that a command can use: \($0)")
            }
        }
        do {
            _ = try KeysetFolder(path).file()
            return nil
        } catch {
            guard let flaw = error as? KeyError, flaw.code == .malformed else { return nil }
            return Failure(
                .dataError,
                "\(path)/\(KeysetFolder.keysetName): \(flaw.reason). \(restoring(path, secretArguments))")
        }
    }

    /// What to do with a backup where a keyset is needed; nil if the file isn't a backup.
    private static func restoringBackup(_ path: String, _ secretArguments: String) -> String? {
        guard Backup.isBackup(path) else { return nil }
        return "it is a backup. To restore it: `pushcrypt keys restore --from \(ShellArgument.quoted(path))"
            + "\(secretArguments)`; add --dry-run to see its keysets first"
    }

    private static func restoring(_ path: String, _ secretArguments: String) -> String {
        "Restore it from a backup: `\(KeysetFolder(path).restoreCommand(secretArguments))`"
    }
}

extension DeviceID {
    init?(option: String?) throws {
        guard let option else { return nil }
        self = try Failure.naming("--device") {
            do throws(KeyError) { return try DeviceID(option) } catch {
                guard FileSystem.exists(option) else { throw error }
                let advice = "\(option) is a file: give the id itself, as for `keys export --device`"
                throw KeyError(error.code, "\(error.reason); \(advice)")
            }
        }
    }
}
