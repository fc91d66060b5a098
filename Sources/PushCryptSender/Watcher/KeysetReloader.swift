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
    /// The status of the file when it was last read; nil if there was none.
    private var stamp: FileStatus?
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
        /// A text with the time is another one at each check of the same file.
        let isOfTime: Bool

        static func == (left: Refusal, right: Refusal) -> Bool {
            left.version == right.version && left.isOfTime == right.isOfTime
                && (left.isOfTime || left.reason == right.reason)
        }
    }

    /// Reads the first keyset.
    ///
    /// - Throws: `KeystoreError`, `KeyError`.
    init(_ watched: WatchedKeyset, clock: @escaping @Sendable () -> UnixTime, logger: Logger) throws {
        self.watched = watched
        self.clock = clock
        self.logger = logger
        // Before the file is read, so that the first check detects a change in between.
        stamp = Self.stamp(watched.place)
        let text = try watched.place.read()
        version = text.version
        used = try watched.unlocked(text)
        choice = Locked(try SealingChoice(used.keyset, at: clock()))
        check = Locked((clock(), nil))
        warnOfSlowClock(used.keyset)
    }

    /// Links are followed. Device, inode, mode, owner, size and times: if all are unchanged, the keyset is unchanged too.
    private static func stamp(_ place: KeysetPlace) -> FileStatus? {
        FileStatus(place.filePath, followingLinks: true)
    }

    func check(_ cause: Cause) -> Outcome {
        let outcome = look(cause)
        check.withLock { $0 = (clock(), refusal?.reason) }
        return outcome
    }

    private func look(_ cause: Cause) -> Outcome {
        let now = Self.stamp(watched.place)
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
        } catch {
            mustCheckAgain = RawKeyset.isTemporary(error)
            return refuse(error)
        }
    }

    private func take(_ unlocked: UnlockedKeyset) throws -> Outcome {
        let isChange = try used.isReplaced(by: unlocked, at: watched.place.path)
        let (keyset, last) = (unlocked.keyset, choice.withLock { $0 })
        let new: SealingChoice
        do {
            new = try SealingChoice(keyset, at: clock())
        } catch let error as KeyError where error.code == .noKeySeals && isRevoked(last, by: unlocked) {
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
            logger.error("the key in use was revoked or has ended, and no other key seals", metadata: metadata)
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

    /// Whether the new keyset revokes the key that the one in use would seal with now; also if that one has no such key, because
    /// the new keyset may revoke its next key. A restoration also revokes keys that its log doesn't have.
    private func isRevoked(_ used: SealingChoice, by new: UnlockedKeyset) -> Bool {
        guard let kid = try? used.keyset.sealingEntry(at: clock()).record.kid else { return true }
        return new.log?.state.revocations[kid] != nil || new.keyset.entry(kid)?.lifecycle.revokedAt != nil
    }

    private func refuse(_ error: any Error) -> Outcome {
        let reason = "\(error)"
        let refusal = Refusal(
            version: version, reason: reason, isOfTime: (error as? KeyError)?.code == .noKeySeals)
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
