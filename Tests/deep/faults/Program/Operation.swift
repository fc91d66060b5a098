import PushCryptCore
import PushCryptHPKE
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptSender

/// An operation of the library whose result is known.
struct Operation {
    let name: String
    /// Reads what the operation needs and returns it ready to run; the result is whether its result was right.
    let prepare: () throws -> () throws -> Bool
    /// What each run takes from OpenSSL, so that a sweep of it makes at least one call fail.
    let needs: Set<Need>
    /// Whether OpenSSL refuses the input without a reason when it lacks memory, as in PBES2.
    let mayBlameInput: Bool

    enum Need {
        /// An allocation, also after OpenSSL's caches are filled.
        case memory
        case randomness
    }

    init(
        _ name: String, needs: Set<Need> = [.memory], mayBlameInput: Bool = false,
        _ prepare: @escaping () throws -> () throws -> Bool
    ) {
        self.name = name
        self.needs = needs
        self.mayBlameInput = mayBlameInput
        self.prepare = prepare
    }

    /// An operation that needs nothing prepared.
    init(_ name: String, needs: Set<Need> = [.memory], run: @escaping () throws -> Bool) {
        self.init(name, needs: needs) { run }
    }
}

/// What an operation did while OpenSSL lacked memory or random bytes.
enum Outcome: Equatable {
    case right
    /// The result of an operation that reported success.
    case wrong
    /// The library's own error that names the cryptographic library as the cause.
    case backendFailure
    /// Another error, which blames the input.
    case misleading(String)

    init(_ run: () throws -> Bool) {
        do {
            self = try run() ? .right : .wrong
        } catch {
            self = Self.namesBackend(error) ? .backendFailure : .misleading("\(type(of: error)) \(error)")
        }
    }

    private static func namesBackend(_ error: any Error) -> Bool {
        switch error {
        case let error as CryptoError: error.code == .backendFailure
        case let error as KeyError: error.code == .backendFailure
        case let error as SenderError: error.code == .backendFailure
        case let error as BlobError: error.code == .backendFailure
        case let error as FailureClass: error == .internalError
        default: false
        }
    }
}
