import Logging
import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives

/// Takes the keyset that lies on disk in place of the one in use, where it is a good one.
///
/// ```
/// file looks as it did        unchanged: two calls of stat, where nothing but time told to look
/// text is the one seen last   unchanged: one read, one SHA-256
/// good                        in use from the next seal on
/// bad                         the old one stays in use; said once, and tried again when the file changes
/// ```
final class KeysetReloader: @unchecked Sendable {
    // Unchecked because of what was seen last: after the initialiser it is used on the watcher's queue only.
    private let watched: WatchedKeyset
    private let clock: @Sendable () -> UnixTime
    private let logger: Logger
    /// Read by every seal.
    let choice: Locked<SealingChoice>

    private var stamp: FileStamp
    private var version: KeysetText.Version?
    private var refusal: Refusal?
    /// What is wrong may pass without a change of the file.
    private var mustLookAgain = false

    enum Cause: Sendable {
        case event, time, request
    }

    enum Outcome: Equatable, Sendable {
        case unchanged
        case taken(sequence: Int64)
        case refused(String)
    }

    private struct Refusal: Equatable {
        let version: KeysetText.Version?
        let reason: String
    }

    /// Reads the first keyset.
    ///
    /// - Throws: `KeystoreError`, `KeyError`.
    init(_ watched: WatchedKeyset, clock: @escaping @Sendable () -> UnixTime, logger: Logger) throws {
        self.watched = watched
        self.clock = clock
        self.logger = logger
        stamp = FileStamp(watched.place)
        let text = try watched.place.read()
        version = text.version
        choice = Locked(try SealingChoice(watched.keyset(text), at: clock()))
    }

    func look(_ cause: Cause) -> Outcome {
        let now = FileStamp(watched.place)
        if cause == .time, now == stamp, !mustLookAgain { return .unchanged }
        stamp = now
        let (known, isRepeated) = (version, mustLookAgain)
        (version, mustLookAgain) = (nil, false)
        do {
            let text = try watched.place.read()
            version = text.version
            guard isRepeated || version != known else { return .unchanged }
            return try take(watched.keyset(text))
        } catch let error as KeystoreError where error.code == .notFound && cause == .event {
            // Between the two steps of whoever moves the old one away and the new one here.
            mustLookAgain = true
            return .unchanged
        } catch {
            mustLookAgain = Self.mayPass(error)
            return refuse("\(error)")
        }
    }

    private func take(_ keyset: Keyset) throws -> Outcome {
        let isChange = try watched.isChange(from: choice.withLock { $0 }.keyset, to: keyset)
        let new = try SealingChoice(keyset, at: clock())
        // The old one, with its keys, goes after the lock is free again.
        let old = choice.withLock { current in
            defer { current = new }
            return current
        }
        guard refusal != nil || isChange else { return .unchanged }
        refusal = nil
        logger.notice(
            "took the keyset that the file holds now",
            metadata: [
                "keyset": "\(watched.place.path)", "seq": "\(keyset.sequence)", "previousSeq": "\(old.keyset.sequence)",
                "primary": "\(new.entry.record.kid)", "previousPrimary": "\(old.entry.record.kid)",
            ])
        return .taken(sequence: keyset.sequence)
    }

    private func refuse(_ reason: String) -> Outcome {
        let refusal = Refusal(version: version, reason: reason)
        if refusal != self.refusal {
            self.refusal = refusal
            let current = choice.withLock { $0 }
            logger.error(
                "didn't take the keyset that the file holds now: the one before stays in use",
                metadata: [
                    "keyset": "\(watched.place.path)", "reason": "\(reason)", "seq": "\(current.keyset.sequence)",
                    "primary": "\(current.entry.record.kid)",
                ])
        }
        return .refused(reason)
    }

    /// Whether the next look may find the same file good: an unreachable key server, a full table of open files.
    private static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case let error as KeystoreError: [.wrapCommandFailed, .inputOutput, .changedMeanwhile].contains(error.code)
        case let error as KeyError: [.backendFailure, .noKeySeals].contains(error.code)
        default: error is CryptoError
        }
    }
}
