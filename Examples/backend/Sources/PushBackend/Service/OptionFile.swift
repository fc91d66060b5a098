public import Foundation
import PushCryptExtension
import PushCryptSender

/// A file or folder that an option of `push-service` names. Its errors name the option and the path.
public struct OptionFile: Sendable {
    /// The path of the file.
    public let path: String
    private let option: String

    /// - Parameter option: without its dashes.
    public init(_ option: String, _ path: String) {
        self.option = option
        self.path = path
    }

    /// Reads the file.
    ///
    /// - Parameters:
    ///   - isSecret: whether the file is refused if other users can open it.
    ///   - make: makes a value of the contents.
    /// - Throws: `ConfigurationError` if the file can't be read, or if `make` throws.
    public func read<Value>(isSecret: Bool = false, _ make: (Data) throws -> Value) throws(ConfigurationError) -> Value
    {
        try naming {
            if isSecret { try requirePrivate() }
            return try make(contents())
        }
    }

    /// Calls a function that uses the path.
    ///
    /// - Throws: `ConfigurationError` if the function throws.
    public func naming<Value>(_ body: () throws -> Value) throws(ConfigurationError) -> Value {
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
        case let error as DeviceKeyError: error.reason
        case let error as SenderError: error.reason
        case let error as StoreError: error.reason
        default: "\(error)"
        }
    }
}
