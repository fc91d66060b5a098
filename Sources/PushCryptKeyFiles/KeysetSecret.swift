public import PushCryptPrimitives

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What opens the private keys of an encrypted keyset: a passphrase, or a command that unwraps data keys.
public struct KeysetSecret: Sendable {
    enum Kind: Sendable {
        case passphrase(SecretBytes)
        case command(String)
    }

    let kind: Kind

    package var isCommand: Bool {
        if case .command = kind { true } else { false }
    }

    /// The passphrase; nil for a command.
    package var passphraseBytes: SecretBytes? {
        if case .passphrase(let bytes) = kind { bytes } else { nil }
    }

    package func hasSamePassphrase(as other: KeysetSecret) -> Bool {
        guard case .passphrase(let own) = kind, case .passphrase(let others) = other.kind else { return false }
        return own == others
    }

    /// - Parameter bytes: the passphrase, UTF-8, as it was given when the keyset was encrypted.
    public static func passphrase(_ bytes: SecretBytes) -> KeysetSecret {
        KeysetSecret(kind: .passphrase(bytes))
    }

    /// - Parameter command: a command of /bin/sh; see ``WrapCommand`` for its contract.
    public static func command(_ command: String) -> KeysetSecret {
        KeysetSecret(kind: .command(command))
    }

    /// A passphrase from a file that only its owner can read; one newline at its end doesn't count.
    ///
    /// - Throws: `KeyStoreError`.
    public static func passphraseFile(_ path: String) throws -> KeysetSecret {
        try FileSystem.requirePrivateFile(path)
        var bytes = try FileSystem.readFile(path)
        defer { wipe(&bytes) }
        return try passphrase(line: bytes, from: path)
    }

    /// A passphrase from a descriptor that was inherited from the parent process, read to its end.
    ///
    /// - Throws: `KeyStoreError`.
    public static func passphraseDescriptor(_ descriptor: Int32) throws -> KeysetSecret {
        var bytes = try FileSystem.readAll(descriptor, "descriptor \(descriptor)")
        defer { wipe(&bytes) }
        return try passphrase(line: bytes, from: "descriptor \(descriptor)")
    }

    /// A passphrase from an environment variable: visible to whoever may look at the process, as in containers.
    ///
    /// - Returns: nil where the variable isn't set.
    /// - Throws: `KeyStoreError` for an empty one.
    public static func environment(_ name: String) throws -> KeysetSecret? {
        guard let value = unsafe getenv(name) else { return nil }
        var bytes = unsafe Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
        defer { wipe(&bytes) }
        return try passphrase(line: bytes, from: "the environment variable \(name)")
    }

    package static func passphrase(line bytes: [UInt8], from source: String) throws -> KeysetSecret {
        var count = bytes.count
        if bytes.last == UInt8(ascii: "\n") { count -= 1 }
        if count > 0, count < bytes.count, bytes[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        guard count > 0 else { throw KeyStoreError(.secretNeeded, "the passphrase from \(source) is empty") }
        return passphrase(SecretBytes(copying: bytes.bytes.extracting(first: count)))
    }
}
