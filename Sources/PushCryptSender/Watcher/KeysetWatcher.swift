public import Logging
public import PushCryptCore
public import PushCryptKeysets
import PushCryptPrimitives

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The keyset of a running sender: picks up a rotated file without a restart.
///
/// Make one per keyset and keep it. Ask it for the key at each push, and don't keep the answer: the key that seals changes
/// with the file, and with time alone. Asking takes no longer than reading the clock and never waits for a file, for
/// scrypt, or for a command that unwraps keys: those run on a thread of the watcher's own.
///
/// A new file is taken as a whole, between two seals. The old keyset stays in use, and the logger gets one line at level
/// `error`, where the new file
/// - is damaged, or has no key that seals,
/// - is not private, or belongs to another user,
/// - is in plain text although a secret was given, or under another passphrase,
/// - holds keys of another kind,
/// - is older than the keyset in use: a lower `seq` or an earlier `updatedAt`,
/// - has other content than the keyset in use under the same `seq`: other keys, pre-shared keys or lifecycles.
///
/// The same content in a file that was written again, encrypted again or touched is no change. A JWK, and a set without the
/// `pushcrypt` member, has no `seq`: any other file without one may take its place, and a set with a `seq` may, but not the
/// other way round. `seq` and what belongs to it are authenticated in encrypted keysets only. The watcher remembers them
/// as long as it lives: an older file that lies there at its start is not recognised.
///
/// Changes show by the system's file events, and by a look at the file's size and times at each `pollInterval`, which is
/// all there is on network file systems. Where the first file is bad, the initialiser throws: a backend that can't seal
/// should not start.
///
/// ```
/// level    message                     metadata
/// notice   took the keyset ...         keyset, seq, previousSeq, primary, previousPrimary
/// error    didn't take the keyset ...  keyset, reason; seq and primary of the one that stays
/// notice   no file events ...          keyset
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
    ///   - folder: the keyset's folder. A relative path is a trap for a process that changes its directory.
    ///   - secret: opens encrypted keys, now and after every rotation: a new passphrase needs a restart. Where one is given
    ///     keys in plain text are refused, now and later. A command (`KeysetSecret.command`) must end by itself; one that
    ///     hangs ends the watch.
    ///   - allowsDemoKeys: accepts the keys that are published with pushcrypt. They protect nothing.
    ///   - pollInterval: how often to look where no event comes; at least 10 milliseconds.
    ///   - logger: is told of every change and every refusal, never of secrets.
    ///   - clock: tells the time that keys are chosen by.
    /// - Throws: as `Keyset.init(folder:secret:allowsDemoKeys:)`; `KeyError` with `noKeySeals`, `wrongKind` for sender
    ///   keys without private halves.
    public convenience init(
        folder: String, secret: KeysetSecret? = nil, allowsDemoKeys: Bool = false,
        pollInterval: Duration = .seconds(10), logger: Logger = Logger(label: "pushcrypt"),
        clock: @escaping @Sendable () -> UnixTime = { UnixTime(Int64(Date().timeIntervalSince1970)) }
    ) throws {
        try self.init(
            WatchedKeyset(place: KeysetPlace(folder: folder), secret: secret, allowsDemoKeys: allowsDemoKeys),
            .init(interval: pollInterval), logger: logger, clock: clock)
    }

    /// Watches a file: one JWK, a JWK set, or the `keyset.json` of a keystore. Replace it by a rename, so that nobody sees
    /// half of it. Links are followed, and one that points elsewhere is a change.
    ///
    /// - Throws: as `Keyset.init(file:secret:allowsDemoKeys:)`; `KeyError` with `noKeySeals`, `wrongKind` for private keys
    ///   of a recipient or public ones of a sender, `pskMissing`.
    public convenience init(
        file: String, secret: KeysetSecret? = nil, allowsDemoKeys: Bool = false,
        pollInterval: Duration = .seconds(10), logger: Logger = Logger(label: "pushcrypt"),
        clock: @escaping @Sendable () -> UnixTime = { UnixTime(Int64(Date().timeIntervalSince1970)) }
    ) throws {
        try self.init(
            WatchedKeyset(place: KeysetPlace(file: file), secret: secret, allowsDemoKeys: allowsDemoKeys),
            .init(interval: pollInterval), logger: logger, clock: clock)
    }

    /// - Parameter observe: told the outcome of every look, on the watcher's queue.
    init(
        _ watched: WatchedKeyset, _ triggers: WatchLoop.Triggers, logger: Logger,
        clock: @escaping @Sendable () -> UnixTime,
        observe: @escaping @Sendable (KeysetReloader.Outcome) -> Void = { _ in }
    ) throws {
        let reloader = try KeysetReloader(watched, clock: clock, logger: logger)
        path = watched.place.path
        self.clock = clock
        choice = reloader.choice
        // Nothing on the queue knows the watcher: when it is released, all of this is.
        loop = WatchLoop(watched.place.folderPath, triggers) { cause in observe(reloader.look(cause)) }
        if triggers.followsEvents, !loop.hasEvents {
            logger.notice(
                "no file events here: the file is looked at from time to time", metadata: ["keyset": "\(path)"])
        }
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
    public func lookNow() { loop.lookNow() }

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
