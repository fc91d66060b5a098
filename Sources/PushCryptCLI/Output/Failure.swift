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
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74
    case temporary = 75
    case noPermission = 77
    /// 128 plus the signal's number, as shells report it.
    case interrupted = 130
    case terminated = 143
}

/// The error that ends a command: a message of one line for stderr, and the exit status.
struct Failure: Error {
    let status: ExitStatus
    let message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// - Parameter signal: SIGINT or SIGTERM.
    init(signal: Int32) {
        self =
            signal == ExitStatus.interrupted.rawValue - 128
            ? Failure(.interrupted, "interrupted") : Failure(.terminated, "terminated")
    }

    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as SenderError: self.init(Self.status(error.code), error.reason)
        case let error as BlobError: self.init(Self.status(error.code), error.reason)
        case let error as KeyError: self.init(Self.status(error.code), error.reason)
        case let error as KeystoreError: self.init(Self.status(error.code), error.reason)
        case let error as FileError: self.init(KeystoreError(error))
        case let error as LifecycleError: self.init(Self.status(error.code), error.reason)
        case let error as RecipientDirectoryError: self.init(Self.status(error.code), error.reason)
        case let error as CryptoError where error.code == .invalidParameters: self.init(.dataError, error.reason)
        default: self.init(.software, "\(error)")
        }
    }

    private static func status(_ code: SenderError.Code) -> ExitStatus {
        switch code {
        case .invalidOption, .invalidPlaceholder: .usage
        case .backendFailure: .software
        default: .dataError
        }
    }

    private static func status(_ code: BlobError.Code) -> ExitStatus {
        switch code {
        case .invalidReference: .usage
        case .tooLong: .dataError
        default: .software
        }
    }

    private static func status(_ code: KeyError.Code) -> ExitStatus {
        switch code {
        case .invalidTopic, .invalidDeviceID, .invalidPolicy: .usage
        case .backendFailure: .software
        default: .dataError
        }
    }

    private static func status(_ code: LifecycleError.Code) -> ExitStatus {
        switch code {
        case .unknownKey: .noInput
        case .blocked: .temporary
        default: .dataError
        }
    }

    private static func status(_ code: RecipientDirectoryError.Code) -> ExitStatus {
        switch code {
        case .notFound: .noInput
        case .noPermission, .looseMode, .foreignOwner: .noPermission
        case .cannotCreate: .cannotCreate
        case .changedMeanwhile, .busy: .temporary
        case .inputOutput: .inputOutput
        default: .dataError
        }
    }

    private static func status(_ code: KeystoreError.Code) -> ExitStatus {
        switch code {
        case .secretNeeded, .demoKeys: .usage
        case .wrongSecret: .noPermission
        case .changedMeanwhile: .temporary
        case .alreadyExists, .cannotCreate: .cannotCreate
        case .notFound: .noInput
        case .noPermission, .looseMode, .foreignOwner: .noPermission
        case .inputOutput: .inputOutput
        default: .dataError
        }
    }
}
