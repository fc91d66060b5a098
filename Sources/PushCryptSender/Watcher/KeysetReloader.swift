import Logging
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// Reads the keyset on disk and replaces the one in use if the new one is valid.
///
/// ```
/// same stat      unchanged: two calls of stat
/// same bytes     unchanged: one read, one SHA-256
/// valid          in use from the next seal on
/// revocation     in use, even if no key is left that seals: then nothing is sealed
/// invalid        the previous keyset stays in use; logged once, and read again when the file changes
/// ```
final class KeysetReloader: @unchecked Sendable {
    // Unchecked because of the variables: after the initialiser only the watcher's queue uses them.
    private let watched: WatchedKeyset
    private let clock: @Sendable () -> UnixTime
    private let logger: Logger
    /// The choice in use, which every seal reads.
    let choice: Locked<SealingChoice>
    /// When the file was last checked, and why it was refused; nil if it is in use.
    let check: Locked<(time: UnixTime, refusal: String?)>

    /// The keyset in use, with its log.
    private var used: UnlockedKeyset
    private var stamp: FileStamp
    private var version: RawKeyset.Version?
    private var refusal: Refusal?
    /// Whether the same file may be valid later.
    private var mustCheckAgain = false

    enum Cause: Sendable {
        /// The timer: the file is read only if `stat` changed.
        case time
        /// A request: the file is always read.
        case request
    }

    enum Outcome: Equatable, Sendable {
        case unchanged
        case taken(sequence: Int64)
        case refused(String)
    }

    private struct Refusal: Equatable {
        let version: RawKeyset.Version?
        let reason: String
    }

    /// Reads the first keyset.
    ///
    /// - Throws: `KeystoreError`, `KeyError`.
    init(_ watched: WatchedKeyset, clock: @escaping @Sendable () -> UnixTime, logger: Logger) throws {
        self.watched = watched
        self.clock = clock
        self.logger = logger
        // Before the file is read, so that the first check detects a change in between.
        stamp = FileStamp(watched.place)
        let text = try watched.place.read()
        version = text.version
        used = try watched.unlocked(text)
        choice = Locked(try SealingChoice(used.keyset, at: clock()))
        check = Locked((clock(), nil))
        warnOfSlowClock(used.keyset)
    }

    func check(_ cause: Cause) -> Outcome {
        let outcome = look(cause)
        check.withLock { $0 = (clock(), refusal?.reason) }
        return outcome
    }

    private func look(_ cause: Cause) -> Outcome {
        let now = FileStamp(watched.place)
        if cause == .time, now == stamp, !mustCheckAgain { return .unchanged }
        stamp = now
        let known = version
        let isRepeated = mustCheckAgain
        version = nil
        mustCheckAgain = false
        do {
            let text = try watched.place.read()
            version = text.version
            guard isRepeated || version != known else { return .unchanged }
            return try take(watched.unlocked(text))
        } catch let error as KeystoreError where error.code == .notFound && cause == .time && !isRepeated {
            // Another process may be replacing the folder, which takes two renames. The next check reports a missing file.
            mustCheckAgain = true
            return .unchanged
        } catch {
            mustCheckAgain = RawKeyset.isTemporary(error)
            return refuse("\(error)")
        }
    }

    private func take(_ unlocked: UnlockedKeyset) throws -> Outcome {
        let isChange = try used.isReplaced(by: unlocked, at: watched.place.path)
        let (keyset, last) = (unlocked.keyset, choice.withLock { $0 })
        let new: SealingChoice
        do {
            new = try SealingChoice(keyset, at: clock())
        } catch let error as KeyError where error.code == .noKeySeals && revokesKeyInUse(keyset, last) {
            // A key that leaked must not be used any more, and recipients refuse it.
            new = last.ended(by: keyset)
        }
        used = unlocked
        // The old choice and its keys are released after the lock.
        let old = choice.withLock { current in
            defer { current = new }
            return current
        }
        guard refusal != nil || isChange else { return .unchanged }
        refusal = nil
        var metadata: Logger.Metadata = [
            "keyset": "\(watched.place.path)", "seq": "\(keyset.sequence)", "previousSeq": "\(old.keyset.sequence)",
            "previousPrimary": "\(old.entry.record.kid)",
        ]
        if new.isEnded {
            logger.error("the key in use was revoked and no other key seals: nothing is sealed", metadata: metadata)
        } else {
            metadata["primary"] = "\(new.entry.record.kid)"
            logger.notice("new keyset in use", metadata: metadata)
        }
        warnOfSlowClock(keyset)
        return .taken(sequence: keyset.sequence)
    }

    private func warnOfSlowClock(_ keyset: Keyset) {
        guard let objection = keyset.timeline.clockIsBehind(at: clock()) else { return }
        logger.error(
            "the clock seems wrong: a push sealed now could have expired when it arrives",
            metadata: ["keyset": "\(watched.place.path)", "reason": "\(objection)", "seq": "\(keyset.sequence)"])
    }

    /// Whether `keyset` revokes the key that the set in use would seal with now. That isn't the last key that sealed if another
    /// one became active since then.
    private func revokesKeyInUse(_ keyset: Keyset, _ used: SealingChoice) -> Bool {
        let entry = (try? used.keyset.sealingEntry(at: clock())) ?? used.entry
        return keyset.revokes(entry.record.kid)
    }

    private func refuse(_ reason: String) -> Outcome {
        let refusal = Refusal(version: version, reason: reason)
        if refusal != self.refusal {
            self.refusal = refusal
            let current = choice.withLock { $0 }
            logger.error(
                "keyset rejected; keeping the previous one",
                metadata: [
                    "keyset": "\(watched.place.path)", "reason": "\(reason)", "seq": "\(current.keyset.sequence)",
                    "primary": "\(current.entry.record.kid)",
                ])
        }
        return .refused(reason)
    }
}

extension Keyset {
    /// Whether the set has the key and says that it was revoked, at any time.
    fileprivate func revokes(_ kid: KeyID) -> Bool { entry(kid)?.lifecycle.revokedAt != nil }
}

/// The status of a keyset's file and folder, with links followed. If it is unchanged, the keyset is unchanged too.
///
/// ```
/// file    device, inode, mode, owner, size, time of the last write (ns), time of the last change of any kind (ns)
/// folder  device, inode, mode, owner
/// ```
struct FileStamp: Hashable, Sendable {
    /// nil if there is no file.
    private let file: FileStatus?
    private let folderIdentity: FileStatus.Identity?
    private let folderAccess: FileAccess?

    init(_ place: KeysetPlace) {
        file = FileStatus(place.filePath, followingLinks: true)
        let folder = FileStatus(place.folderPath, followingLinks: true)
        folderIdentity = folder?.identity
        folderAccess = folder?.access
    }
}
