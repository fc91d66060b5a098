import Dispatch
public import Logging
public import PushCryptCore
public import PushCryptKeysets
import PushCryptPrimitives

/// The keyset of a running sender: loads a rotated file without a restart.
///
/// Make one per keyset and keep it. Ask it for the key at each push, and don't keep the answer: the key that seals changes
/// with the file, and with time alone. Asking takes no longer than reading the clock and never waits for a file, for
/// scrypt, or for a command that unwraps keys: those run on a thread of the watcher's own.
///
/// The watcher looks at the file once a second: it compares what `stat` says of it, links followed, and reads it when that
/// has changed. So it sees renamed, rewritten and mounted files (a secret of Kubernetes), also on network file systems.
///
/// A new file is loaded as a whole, between two seals. The previous keyset stays in use, and the logger gets one line at
/// level `error`, if the new file
/// - is damaged, or has no key that seals,
/// - is not private, or belongs to another user,
/// - is in plain text although a secret was given, or under another passphrase,
/// - holds keys of another kind,
/// - is older than the keyset in use: a lower `seq` or an earlier `updatedAt`,
/// - has other content than the keyset in use under the same `seq`: other keys, pre-shared keys or lifecycles.
///
/// To load an older keyset, restart the sender. The same content in a file that was written again, encrypted again or
/// touched is no change. A JWK, and a set without the `pushcrypt` member, has no `seq`: any other file without one may take
/// its place, and a set with a `seq` may, but not the other way round. `seq` and what belongs to it are authenticated in
/// encrypted keysets only. The watcher remembers them as long as it exists: at its start it accepts an older file.
///
/// If the first file is invalid, the initialiser throws: a backend that can't seal should not start.
///
/// ```
/// level    message                                      metadata
/// notice   new keyset in use                            keyset, seq, previousSeq, primary, previousPrimary
/// error    keyset rejected; keeping the previous one    keyset, reason; seq and primary of the one that stays
/// ```
public final class KeysetWatcher: Sendable {
    private let path: String
    private let clock: @Sendable () -> UnixTime
    private let choice: Locked<SealingChoice>
    private let loop: WatchLoop

    /// Watches a keyset of a keystore, `Keys/NAME`. Of a recipient's keys only the public halves and the pre-shared keys
    /// are kept.
    ///
    /// - Parameters:
    ///   - folder: the keyset's folder. Give an absolute path if the process may change its directory.
    ///   - secret: opens encrypted keys, now and after every rotation: a new passphrase needs a restart. With a secret, keys
    ///     in plain text are refused, now and later. A command (`KeysetSecret.command`) must end by itself; one that hangs
    ///     ends the watch.
    ///   - allowsDemoKeys: accepts the keys that are published with pushcrypt. They protect nothing.
    ///   - pollInterval: the time between two looks; at least 10 milliseconds.
    ///   - logger: gets a line for every change and every refusal. It never gets secrets.
    ///   - clock: tells the time that keys are chosen by.
    /// - Throws: as `Keyset.init(folder:secret:allowsDemoKeys:)`; `KeyError` with `noKeySeals`, `wrongKind` for sender
    ///   keys without private halves.
    public convenience init(
        folder: String, secret: KeysetSecret? = nil, allowsDemoKeys: Bool = false,
        pollInterval: Duration = .seconds(1), logger: Logger = Logger(label: "pushcrypt"),
        clock: @escaping @Sendable () -> UnixTime = { .now }
    ) throws {
        try self.init(
            WatchedKeyset(place: KeysetPlace(folder: folder), secret: secret, allowsDemoKeys: allowsDemoKeys),
            pollInterval, logger: logger, clock: clock)
    }

    /// Watches a file: one JWK, a JWK set, or the `keyset.json` of a keystore. Replace it by a rename, so that nobody sees
    /// half of it. Links are followed, and one that points elsewhere is a change.
    ///
    /// - Parameters: as for ``init(folder:secret:allowsDemoKeys:pollInterval:logger:clock:)``.
    /// - Throws: as `Keyset.init(file:secret:allowsDemoKeys:)`; `KeyError` with `noKeySeals`, `wrongKind` for private keys
    ///   of a recipient or public ones of a sender, `pskMissing`.
    public convenience init(
        file: String, secret: KeysetSecret? = nil, allowsDemoKeys: Bool = false,
        pollInterval: Duration = .seconds(1), logger: Logger = Logger(label: "pushcrypt"),
        clock: @escaping @Sendable () -> UnixTime = { .now }
    ) throws {
        try self.init(
            WatchedKeyset(place: KeysetPlace(file: file), secret: secret, allowsDemoKeys: allowsDemoKeys),
            pollInterval, logger: logger, clock: clock)
    }

    /// - Parameters:
    ///   - interval: nil: looks only when asked.
    ///   - observe: gets the outcome of every look, on the watcher's queue.
    init(
        _ watched: WatchedKeyset, _ interval: Duration?, logger: Logger,
        clock: @escaping @Sendable () -> UnixTime,
        observe: @escaping @Sendable (KeysetReloader.Outcome) -> Void = { _ in }
    ) throws {
        let reloader = try KeysetReloader(watched, clock: clock, logger: logger)
        path = watched.place.path
        self.clock = clock
        choice = reloader.choice
        // Nothing on the queue refers to the watcher: when it is released, so is all of this.
        loop = WatchLoop(every: interval) { cause in observe(reloader.look(cause)) }
    }

    /// The keyset in use. A value: it doesn't change when the file does.
    public var current: Keyset { choice.withLock { $0 }.keyset }

    /// The recipient to seal to now: the primary key of a keyset of recipient or shared keys.
    ///
    /// A shared key that was made as the master of many devices must not be used as it is: see ``recipient(device:)``.
    ///
    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind`.
    public func recipient() throws -> Recipient {
        guard case .recipient(let recipient) = try choice(at: clock()).key else {
            throw KeyError(.wrongKind, "\(path) holds sender keys: they sign, nothing is sealed to them")
        }
        return recipient
    }

    /// The recipient to seal to now on one device: its own key, derived from the primary of a keyset of shared keys.
    ///
    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind`, `wrongDevice`.
    public func recipient(device: DeviceID) throws -> Recipient {
        try Recipient(choice(at: clock()).entry.device(device))
    }

    /// The key to sign with now: the primary of a keyset of sender keys. A ``Sealer`` is cheap: make one with it.
    ///
    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind`.
    public func senderKey() throws -> SenderKey {
        guard case .sender(let key) = try choice(at: clock()).key else {
            throw KeyError(.wrongKind, "\(path) holds no sender keys, and nothing else signs")
        }
        return key
    }

    /// Looks at the file at once and waits for the outcome: for a signal or a command that says the keys were rotated.
    public func lookNow() { loop.lookNow(.request) }

    /// Does what the timer does.
    func tick() { loop.lookNow(.time) }

    /// Ends the watch; what is in use stays in use. Releasing the watcher does the same.
    public func stop() { loop.stop() }

    private func choice(at time: UnixTime) throws -> SealingChoice {
        let current = choice.withLock { $0 }
        return current.holds(at: time) ? current : try nextChoice(at: time)
    }

    /// Another key of the keyset in use, which may not be the one that was looked at a moment ago.
    private func nextChoice(at time: UnixTime) throws -> SealingChoice {
        try choice.withLock { current in
            Result {
                if !current.holds(at: time) { current = try SealingChoice(current.keyset, at: time) }
                return current
            }
        }.get()
    }
}

/// Looks at every interval, on a queue of its own, until it is released.
private final class WatchLoop: @unchecked Sendable {
    // Unchecked because of the timer: its methods may be called on any thread, though Dispatch doesn't declare that.
    private let queue = DispatchQueue(label: "pushcrypt.keyset-watcher", qos: .utility)
    private let timer: (any DispatchSourceTimer)?
    private let look: @Sendable (KeysetReloader.Cause) -> Void

    /// - Parameter interval: nil: looks only when asked.
    init(every interval: Duration?, look: @escaping @Sendable (KeysetReloader.Cause) -> Void) {
        self.look = look
        timer = interval.map { [queue] interval in
            let timer = DispatchSource.makeTimerSource(queue: queue)
            let time = max(interval, .milliseconds(10)).dispatchInterval
            timer.schedule(deadline: .now() + time, repeating: time)
            timer.setEventHandler { look(.time) }
            timer.activate()
            return timer
        }
    }

    deinit {
        stop()
    }

    /// Looks at once and waits for the end of the look.
    func lookNow(_ cause: KeysetReloader.Cause) {
        queue.sync { look(cause) }
    }

    func stop() { timer?.cancel() }
}
