import Logging
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// Reads the keyset on disk and puts it in the place of the one in use, if it is valid.
///
/// ```
/// stat says the same       unchanged: two calls of stat
/// text is the one seen     unchanged: one read, one SHA-256
/// valid                    in use from the next seal on
/// invalid                  the previous one stays in use; logged once, and tried again when the file changes
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
    /// The same file may be valid at the next look.
    private var mustLookAgain = false

    /// What made it look.
    enum Cause: Sendable {
        /// The time for a look has come: an unchanged `stat` is enough.
        case time
        /// Somebody asked: the file is read.
        case request
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
        // Before the file is read: a change between the two shows at the first look.
        stamp = FileStamp(watched.place)
        let text = try watched.place.read()
        version = text.version
        choice = Locked(try SealingChoice(watched.keyset(text), at: clock()))
    }

    func look(_ cause: Cause) -> Outcome {
        let now = FileStamp(watched.place)
        if cause == .time, now == stamp, !mustLookAgain { return .unchanged }
        stamp = now
        let known = version
        let isRepeated = mustLookAgain
        version = nil
        mustLookAgain = false
        do {
            let text = try watched.place.read()
            version = text.version
            guard isRepeated || version != known else { return .unchanged }
            return try take(watched.keyset(text))
        } catch let error as KeystoreError where error.code == .notFound && cause == .time && !isRepeated {
            // Somebody may be exchanging the folder, which takes two renames. The next look says whether it stays away.
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
        // The old choice, and its keys, is released after the lock is.
        let old = choice.withLock { current in
            defer { current = new }
            return current
        }
        guard refusal != nil || isChange else { return .unchanged }
        refusal = nil
        logger.notice(
            "new keyset in use",
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
                "keyset rejected; keeping the previous one",
                metadata: [
                    "keyset": "\(watched.place.path)", "reason": "\(reason)", "seq": "\(current.keyset.sequence)",
                    "primary": "\(current.entry.record.kid)",
                ])
        }
        return .refused(reason)
    }

    /// Whether the next look may find the same file valid: an unreachable key server, a full table of open files.
    private static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case let error as KeystoreError: [.wrapCommandFailed, .inputOutput, .changedMeanwhile].contains(error.code)
        case let error as KeyError: [.backendFailure, .noKeySeals].contains(error.code)
        default: error is CryptoError
        }
    }
}

/// What `stat` says of a keyset's file and its folder, links followed: while it stays the same, the keyset does.
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
