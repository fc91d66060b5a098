import PushCryptFiles
public import PushCryptPrimitives

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

    /// The most bytes of a passphrase from anywhere but ``passphrase(_:)``.
    package static let maximumPassphraseByteCount = 1_024

    /// A passphrase from a private file, which belongs to this process's user or to root and which other users can't reach;
    /// one newline at its end doesn't count. The group may read a file of root's, and links are followed, because container
    /// platforms mount secrets like that.
    ///
    /// - Throws: `KeystoreError` with `notFound`, `noPermission`, `looseMode`, `foreignOwner`, `notAKeyset` for anything
    ///   but a file, `secretNeeded` for an empty passphrase or one of more than 1,024 bytes.
    public static func passphraseFile(_ path: String) throws -> KeysetSecret {
        let file = try KeystoreError.converting { () throws(FileError) in
            let file = try OpenFile(path)
            try file.requireFile(.ownerOrRootsGroup, advice: "; a private file is needed here")
            return file
        }
        return try passphrase(from: file)
    }

    /// A passphrase from a descriptor that was inherited from the parent process, read to its end; one newline there
    /// doesn't count. It stays open.
    ///
    /// - Throws: `KeystoreError` with `inputOutput`, `secretNeeded` as ``passphraseFile(_:)`` and for a terminal.
    public static func passphraseDescriptor(_ descriptor: Int32) throws -> KeysetSecret {
        guard isatty(descriptor) == 0 else {
            throw KeystoreError(
                .secretNeeded, "descriptor \(descriptor) is a terminal, which would show the passphrase")
        }
        return try passphrase(from: OpenFile(descriptor: descriptor, named: "descriptor \(descriptor)"))
    }

    private static func passphrase(from file: OpenFile) throws -> KeysetSecret {
        // With a line's end, and one more byte that says too long.
        var buffer = [UInt8](repeating: 0, count: maximumPassphraseByteCount + 3)
        defer { wipe(&buffer) }
        let count: Int
        do throws(FileError) {
            count = try file.readFull(into: &buffer)
        } catch {
            throw KeystoreError(error)
        }
        return try passphrase(line: buffer.bytes.extracting(first: count), from: file.path)
    }

    /// A passphrase from an environment variable: visible to users who may look at the process, as in containers.
    ///
    /// - Throws: `KeystoreError` with `secretNeeded` where the variable isn't set, for an empty one, or one of more than
    ///   1,024 bytes.
    public static func environment(_ name: String) throws -> KeysetSecret {
        guard let value = unsafe getenv(name) else {
            throw KeystoreError(.secretNeeded, "the environment variable \(name) isn't set; it is to hold a passphrase")
        }
        var bytes = unsafe Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
        defer { wipe(&bytes) }
        return try passphrase(line: bytes.bytes, from: "the environment variable \(name)")
    }

    package static func passphrase(line bytes: Span<UInt8>, from source: String) throws -> KeysetSecret {
        var count = bytes.count
        if count > 0, bytes[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        if count > 0, count < bytes.count, bytes[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        guard count > 0 else { throw KeystoreError(.secretNeeded, "the passphrase from \(source) is empty") }
        guard count <= maximumPassphraseByteCount else {
            throw KeystoreError(
                .secretNeeded, "what \(source) holds has more than \(maximumPassphraseByteCount) bytes: no passphrase")
        }
        return passphrase(SecretBytes(copying: bytes.extracting(first: count)))
    }
}
