import Foundation
import PushCryptSender

/// Why a service can't be started.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The option of `push-service`, without its dashes; for a file, with the path after it.
    let option: String
    /// The cause. It contains no secret.
    let reason: String
    /// The option and the reason.
    public var description: String { "--\(option): \(reason)" }

    init(_ option: String, _ reason: String) {
        self.option = option
        self.reason = reason
    }
}

/// A file that an option of `push-service` names. Its errors name the option and the path.
struct OptionFile {
    private let option: String
    private let path: String

    /// - Parameter option: without its dashes.
    init(_ option: String, _ path: String) {
        self.option = option
        self.path = path
    }

    /// Reads the file.
    ///
    /// - Parameters:
    ///   - isSecret: whether the file is refused if other users can open it.
    ///   - make: makes a value of the contents.
    /// - Throws: `ConfigurationError` if the file can't be read, or if `make` throws.
    func read<Value>(isSecret: Bool = false, _ make: (Data) throws -> Value) throws(ConfigurationError) -> Value {
        try naming {
            if isSecret { try requirePrivate() }
            return try make(contents())
        }
    }

    /// Calls a function that uses the path.
    ///
    /// - Throws: `ConfigurationError` if the function throws.
    func naming<Value>(_ body: () throws -> Value) throws(ConfigurationError) -> Value {
        do { return try body() } catch { throw ConfigurationError("\(option) \(path)", Self.reason(error)) }
    }

    /// Follows the library's rule for files with secrets, which `passphraseFile` checks before it reads.
    private func requirePrivate() throws {
        do { _ = try KeysetSecret.passphraseFile(path) } catch let error as KeystoreError
            where error.code == .secretNeeded
        {
            // The contents needn't have the form of a passphrase.
        }
    }

    private func contents() throws -> Data {
        do { return try Data(contentsOf: URL(fileURLWithPath: path)) } catch let error as CocoaError {
            throw ConfigurationError(
                option, error.code == .fileReadNoSuchFile ? "there is no such file" : "the file can't be read")
        }
    }

    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as ConfigurationError: error.reason
        case let error as KeystoreError: error.reason
        case let error as KeyError: error.reason
        case let error as SenderError: error.reason
        case let error as StoreError: error.reason
        default: "\(error)"
        }
    }
}
