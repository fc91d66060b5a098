import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptRecipients
import PushCryptSender

/// Exit statuses, named after sysexits.h.
enum ExitStatus: Int32 {
    case usage = 64
    case dataError = 65
    case noInput = 66
    /// A key of suite 3 with an OpenSSL before 3.5; the program `after` of the settings failed.
    case unavailable = 69
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74
    case temporary = 75
    case noPermission = 77
    /// A person must act: the clock, the writer, a read-only disk, an old copy, two histories, two files, a choice.
    case config = 78
    /// 128 plus the signal's number, as shells report it.
    case interrupted = 130
    case terminated = 143

    init(signal: Int32) { self = Self(rawValue: 128 + signal) ?? .terminated }
}

/// The error that ends a command: a message of one line for stderr, and the exit status.
struct Failure: Error, CustomStringConvertible {
    let status: ExitStatus
    let message: String

    var description: String { message }

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    init(signal: Int32) {
        let status = ExitStatus(signal: signal)
        self.init(status, "\(status)")
    }

    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as SenderError: self.init(Self.senderStatuses[error.code] ?? .dataError, error.reason)
        case let error as BlobError: self.init(Self.blobStatuses[error.code] ?? .software, error.reason)
        case let error as KeyError:
            let advice =
                error.code == .signedSet
                ? "; commands with --pins read it, and others the JWK set that `keys export` prints" : ""
            self.init(Self.keyStatuses[error.code] ?? .dataError, error.reason + advice)
        case let error as KeystoreError: self.init(Self.keystoreStatuses[error.code] ?? .dataError, error.reason)
        case let error as FileError: self.init(KeystoreError(error))
        case is KeystoreRefusal, is KeysetFileError, is KeysetLogError, is SettingsError, is SetupConflict:
            self.init(error, of: "the keyset")
        case let error as LifecycleError: self.init(Self.lifecycleStatuses[error.code] ?? .dataError, error.reason)
        case let error as RecipientDirectoryError:
            let advice =
                error.code == .notADirectory ? "; `pushcrypt recipients import FILE --into DATABASE` makes one" : ""
            self.init(Self.directoryStatuses[error.code] ?? .dataError, error.reason + advice)
        case let error as CryptoError where error.code == .unsupportedAlgorithm: self.init(.unavailable, error.reason)
        case let error as CryptoError where error.code == .invalidParameters: self.init(.dataError, error.reason)
        default: self.init(.software, "\(error)")
        }
    }

    /// Adds the name of an option to an error about its value.
    static func naming<Result>(_ option: String, _ body: () throws -> Result) throws(Failure) -> Result {
        do { return try body() } catch {
            let failure = Failure(error)
            throw Failure(failure.status, "\(option): \(failure.message)")
        }
    }

    private static let senderStatuses: [SenderError.Code: ExitStatus] = [
        .invalidOption: .usage, .invalidPlaceholder: .usage, .backendFailure: .software,
        .unsupportedSuite: .unavailable,
    ]
    private static let blobStatuses: [BlobError.Code: ExitStatus] = [.invalidReference: .usage, .tooLong: .dataError]
    private static let keyStatuses: [KeyError.Code: ExitStatus] = [
        .invalidTopic: .usage, .invalidDeviceID: .usage, .invalidPolicy: .usage, .backendFailure: .software,
        .unsupportedSuite: .unavailable,
    ]
    private static let lifecycleStatuses: [LifecycleError.Code: ExitStatus] = [
        .unknownKey: .noInput, .blocked: .temporary,
    ]
    private static let directoryStatuses: [RecipientDirectoryError.Code: ExitStatus] = [
        .notFound: .noInput, .noPermission: .noPermission, .looseMode: .noPermission, .foreignOwner: .noPermission,
        .cannotCreate: .cannotCreate, .changedMeanwhile: .temporary, .busy: .temporary, .inputOutput: .inputOutput,
        .unsupportedSuite: .unavailable,
    ]
    private static let keystoreStatuses: [KeystoreError.Code: ExitStatus] = [
        .secretNeeded: .usage, .demoKeys: .usage, .wrongSecret: .noPermission,
        .changedMeanwhile: .temporary,
        .alreadyExists: .cannotCreate, .cannotCreate: .cannotCreate, .notFound: .noInput, .noPermission: .noPermission,
        .looseMode: .noPermission, .foreignOwner: .noPermission, .inputOutput: .inputOutput,
        .olderThanHistory: .config, .twoHistories: .config,
    ]
}
