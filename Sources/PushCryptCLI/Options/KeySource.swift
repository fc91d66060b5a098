import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptSender

/// Keys that the command line names: a keyset's file (Keys/NAME, Keys/NAME.keyset, Keys/NAME#ID), a JWK set or one JWK.
struct KeySource: Sendable {
    private let path: String
    private let place: KeysetPlace
    private var unlocked: UnlockedKeyset
    /// nil if none was given or typed.
    private let secret: KeysetSecret?
    private var confirmsClock = false

    var keyset: Keyset { unlocked.keyset }
    private var isKeyset: Bool { unlocked.log != nil }

    /// - Parameter allowsPublic: whether to accept a JWK set without private keys although a secret is given, because the secret is
    ///   for another keyset of the command.
    init(_ path: String, _ access: KeyAccess, allowsPublic: Bool = false) throws {
        let raw = try Self.place(of: path).read(acceptingPipes: true)
        let secret: KeysetSecret?
        if let rows = try raw.rows() {
            let (host, location) = (try access.host(), KeysetLocation(Self.file(of: path)))
            raw.place?.history = host.histories(of: location)
            do { secret = try host.secret(of: location, rows) } catch { throw Failure(error, of: path) }
        } else {
            secret = try access.secrets.given()
        }
        try self.init(path, raw, secret, allowsPublic: allowsPublic)
        confirmsClock = access.confirmsClock
        unlocked.keyset.allowsLowerSuite = access.allowsLowerSuite
        try refuseDemoKeys(unless: access.allowsDemoKeys)
        FaultPoint.reach("keys-read")
    }

    private init(_ path: String, _ raw: RawKeyset, _ secret: KeysetSecret?, allowsPublic: Bool) throws {
        (self.path, self.secret) = (path, secret)
        unlocked = try Self.naming(path) { try raw.unlocked(secret, allowsPublic: allowsPublic) }
        place = raw.place ?? Self.place(of: path)
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
        let new = try KeySource(path, place.read(), secret, allowsPublic: allowsPublic)
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
        return KeysetPlace(file: path)
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
            .config,
            "\(path): \(objection): a push sealed now could have expired when it arrives; set the clock. If it is right: "
                + "`pushcrypt restore \(ShellArgument.quoted(path))`, and seal with --confirm-clock until then")
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
                "\(path): key \(entry.record.kid) is a public key, which can only seal; to open, give the keyset (Keys/NAME) or a "
                    + "file with the private key")
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

    /// Adds the path to an error about a key or its lifecycle.
    static func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as HistoryRefusal {
            throw Failure(KeystoreRefusal(error.objection, to: error.id, seen: error.seen), of: path)
        } catch  where error is KeyError || error is LifecycleError {
            let failure = Failure(error)
            // An error in a file is bad data, even one that would be bad usage of an option.
            throw Failure(failure.status == .usage ? .dataError : failure.status, "\(path): \(failure.message)")
        }
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
