import Dispatch
public import Logging
public import PushCryptCore
public import PushCryptKeysets
import PushCryptPrimitives

/// The keyset of a running sender. It loads a rotated file without a restart.
///
/// Make one per keyset and keep it. Give one with sender keys to a ``Sealer`` as ``Signer/watching(_:)``. Request a recipient
/// for each push and don't keep it, because the key that seals changes with the file and with time. A request only reads the
/// clock. A thread of the watcher reads files and runs scrypt or the command that unwraps keys.
///
/// Once a second the watcher compares the file's `stat`, with links followed, and reads the file if it changed. So it
/// detects renamed, rewritten and mounted files (a secret of Kubernetes), also on network file systems.
///
/// The previous keyset stays in use, and the logger gets one line at level `error`, if the new file
/// - is damaged, or has no key that seals,
/// - is not private, or belongs to another user,
/// - is in plain text although a secret was given, or has another passphrase,
/// - contains keys of another kind,
/// - is a keyset whose log doesn't go on from that of the keyset in use: an old copy, another keyset, or a copy that another
///   host has changed,
/// - is older than what this host has seen, if there is a history,
/// - is a JWK set with a lower `seq`, an earlier `updatedAt`, or other content with the same `seq`.
///
/// A revocation takes effect even if the file has no other key that seals. Then the watcher has no key (`noKeySeals`).
///
/// To load an older keyset, restart the process: without a history, a new watcher trusts the first file. A file that was
/// rewritten, encrypted again or touched without a change of content is no change. A JWK, and a set without the `pushcrypt`
/// member, has no `seq`: another file without `seq` or a set with `seq` may replace it, but a file without `seq` can't replace
/// a set with `seq`. Nothing authenticates a JWK set.
///
/// If the first file is invalid, the initialiser throws: a backend that can't seal should not start.
///
/// ```
/// level    message                                      metadata
/// notice   new keyset in use                            keyset, seq, previousSeq, primary, previousPrimary
/// error    keyset rejected; keeping the previous one    keyset, reason; seq and primary of the previous one
/// error    the key in use was revoked and no other key  keyset, seq, previousSeq, previousPrimary
///          seals: nothing is sealed
/// error    the clock seems wrong                        keyset, reason, seq
/// ```
public final class KeysetWatcher: Sendable {
    private let path: String
    private let clock: @Sendable () -> UnixTime
    private let choice: Locked<SealingChoice>
    private let check: Locked<(time: UnixTime, refusal: String?)>
    private let loop: WatchLoop

    /// Watches a file: a keyset, `Keys/NAME.keyset` or `Keys/NAME`, a JWK set or one JWK. Replace it with a rename, so that no
    /// process reads a part of it. Links are followed, and a new target is a change. Drops the private halves of a keyset of
    /// recipient keys.
    ///
    /// - Parameters:
    ///   - file: the path; an absolute one if the process may change its directory.
    ///   - id: as for `Keyset.init(file:id:history:secret:allowsDemoKeys:)`, now and later.
    ///   - history: as for that initialiser. Each accepted file raises it.
    ///   - secret: decrypts the keys, now and after every rotation. A new passphrase needs a restart. With a secret, keys in clear
    ///     are refused, now and later. A command (`KeysetSecret.command`) must end by itself; one that hangs ends the watch.
    ///   - allowsDemoKeys: accepts the keys that are published with pushcrypt. They protect nothing.
    ///   - allowsLowerSuite: as for `Keyset.recipient(at:allowsLowerSuite:)`, now and later.
    ///   - pollInterval: the time between two checks of the file; at least 10 milliseconds.
    ///   - logger: gets a line for every change and every refusal, and never a secret.
    ///   - clock: the time for choosing keys.
    /// - Throws: as that initialiser; `KeyError` with `noKeySeals`, `wrongKind` for a JWK with the private key of a recipient and
    ///   public keys of a sender, `pskMissing`, `suiteTooLow`.
    public convenience init(
        file: String, id: String? = nil, history: String? = nil, secret: KeysetSecret? = nil,
        allowsDemoKeys: Bool = false, allowsLowerSuite: Bool = false,
        pollInterval: Duration = .seconds(1), logger: Logger = Logger(label: "pushcrypt"),
        clock: @escaping @Sendable () -> UnixTime = { .now }
    ) throws {
        let place = try KeysetPlace(file: file, id: id, history: history)
        try self.init(
            WatchedKeyset(
                place: place, secret: secret, allowsDemoKeys: allowsDemoKeys, allowsLowerSuite: allowsLowerSuite),
            pollInterval, logger: logger, clock: clock)
    }

    /// - Parameters:
    ///   - interval: nil to check only on request.
    ///   - observe: called with the outcome of every check, on the watcher's queue.
    init(
        _ watched: WatchedKeyset, _ interval: Duration?, logger: Logger,
        clock: @escaping @Sendable () -> UnixTime,
        observe: @escaping @Sendable (KeysetReloader.Outcome) -> Void = { _ in }
    ) throws {
        let reloader = try KeysetReloader(watched, clock: clock, logger: logger)
        path = watched.place.path
        self.clock = clock
        choice = reloader.choice
        check = reloader.check
        // Nothing on the queue refers to the watcher, so releasing the watcher releases the loop.
        loop = WatchLoop(every: interval) { cause in observe(reloader.check(cause)) }
    }

    /// The keyset in use. This value doesn't change with the file.
    public var current: Keyset { choice.withLock { $0 }.keyset }

    /// The recipient to seal to now: the primary key of a keyset of recipient or shared keys.
    ///
    /// For a shared key that is the master of many devices, use ``recipient(device:)``.
    ///
    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind`.
    public func recipient() throws -> Recipient {
        guard case .recipient(let recipient) = try choice(at: clock()).key else {
            throw KeyError(.wrongKind, "\(path) contains sender keys, which only sign")
        }
        return recipient
    }

    /// The recipient to seal to now on one device: its key, derived from the primary of a keyset of shared keys.
    ///
    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind`, `wrongDevice`.
    public func recipient(device: DeviceID) throws -> Recipient {
        try Recipient(choice(at: clock()).entry.device(device))
    }

    /// The key to sign with now: the primary of a keyset of sender keys.
    ///
    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind`.
    public func senderKey() throws -> SenderKey { try signingChoice().key }

    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind`.
    func signingChoice() throws -> (key: SenderKey, choice: SealingChoice) {
        let choice = try choice(at: clock())
        guard case .sender(let key) = choice.key else {
            throw KeyError(.wrongKind, "\(path) doesn't contain sender keys; other keys can't sign")
        }
        return (key, choice)
    }

    /// The state of the keyset at this moment, for a health check.
    public var status: Status {
        let (time, refusal) = check.withLock { $0 }
        let (now, keyset) = (clock(), current)
        let choice = try? choice(at: now)
        return Status(
            sequence: keyset.sequence, primary: choice?.entry.record.kid,
            activatedAt: choice?.entry.lifecycle.activatesAt, endsAt: choice?.endsAt, checkedAt: time, refusal: refusal,
            clockObjection: keyset.timeline.clockIsBehind(at: now))
    }

    /// The state of a watched keyset.
    public struct Status: Hashable, Sendable {
        /// The number of the last line of the keyset in use, or the `seq` of a JWK set; 0 for a file without one.
        public let sequence: Int64
        /// The key that seals or signs; nil if none does.
        public let primary: KeyID?
        /// When that key began to seal or sign; nil if there is no key, or the file has no such time.
        public let activatedAt: UnixTime?
        /// When another key of the keyset may replace it, or when it expires; nil if no time is set.
        public let endsAt: UnixTime?
        /// When the watcher last checked the file. A healthy watcher checks it once in a poll interval.
        public let checkedAt: UnixTime
        /// Why the current file isn't in use; nil if it is.
        public let refusal: String?
        /// Why the clock seems to be behind: it is more than 10 minutes before the last change of the keyset. A push that is
        /// sealed now could have expired when it arrives. nil if the clock seems right. It doesn't affect ``isHealthy``,
        /// because the clock of the host that changed the keyset may be the wrong one.
        public let clockObjection: String?

        /// Whether the current file is in use, and one of its keys seals or signs.
        public var isHealthy: Bool { refusal == nil && primary != nil }
    }

    /// Reads the file at once and waits for the outcome, for example after a signal that the keys were rotated.
    public func checkNow() { loop.checkNow(.request) }

    /// Runs the timer's check now.
    package func tick() { loop.checkNow(.time) }

    /// Ends the watch; the keyset stays in use. Releasing the watcher also ends the watch.
    public func stop() { loop.stop() }

    /// The key in use. Chooses another key of the keyset if the time of the last one has ended.
    private func choice(at time: UnixTime) throws -> SealingChoice {
        try choice.withLock { current in
            Result {
                if !current.isValid(at: time) { current = try SealingChoice(current.keyset, at: time) }
                return current
            }
        }.get()
    }
}

/// Calls a function at regular intervals on its queue until it is released.
private final class WatchLoop: @unchecked Sendable {
    // Unchecked because of the timer, whose methods are thread-safe, though Dispatch doesn't declare it.
    private let queue = DispatchQueue(label: "pushcrypt.keyset-watcher", qos: .utility)
    private let timer: (any DispatchSourceTimer)?
    private let check: @Sendable (KeysetReloader.Cause) -> Void

    /// - Parameter interval: nil to check only on request.
    init(every interval: Duration?, check: @escaping @Sendable (KeysetReloader.Cause) -> Void) {
        self.check = check
        timer = interval.map { [queue] interval in
            let timer = DispatchSource.makeTimerSource(queue: queue)
            let time = max(interval, .milliseconds(10)).dispatchInterval
            timer.schedule(deadline: .now() + time, repeating: time)
            timer.setEventHandler { check(.time) }
            timer.activate()
            return timer
        }
    }

    deinit { stop() }

    /// Checks at once and waits for the end of the check.
    func checkNow(_ cause: KeysetReloader.Cause) {
        queue.sync { check(cause) }
    }

    func stop() { timer?.cancel() }
}

extension KeysetWatcher {
    /// Watches a keyset that was read and unlocked before. While its file has the same bytes, neither scrypt nor the command
    /// that unwraps keys runs again.
    ///
    /// The parameters and errors are those of the public initialiser.
    package convenience init(
        _ place: KeysetPlace, _ unlocked: UnlockedKeyset, allowsDemoKeys: Bool, pollInterval: Duration = .seconds(1),
        logger: Logger, clock: @escaping @Sendable () -> UnixTime
    ) throws {
        let watched = WatchedKeyset(
            place: place, secret: unlocked.secret, allowsDemoKeys: allowsDemoKeys,
            allowsLowerSuite: unlocked.keyset.allowsLowerSuite, known: unlocked)
        try self.init(watched, pollInterval, logger: logger, clock: clock)
    }
}
