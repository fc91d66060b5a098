import PushCryptFiles
public import PushCryptPrimitives

/// The secret that decrypts a keyset's private keys: a passphrase, or a command that unwraps data keys.
public struct KeysetSecret: Sendable {
    enum Kind: Sendable {
        case passphrase(SecretBytes)
        /// With variables for its environment.
        case command(String, [String: String])
    }

    let kind: Kind

    package var isCommand: Bool {
        if case .command = kind { true } else { false }
    }

    /// The passphrase; nil for a command.
    package var passphraseBytes: SecretBytes? {
        if case .passphrase(let bytes) = kind { bytes } else { nil }
    }

    /// Refuses a new passphrase that a person couldn't type in an emergency, or that is short. What an earlier one has encrypted
    /// still opens with it. Commands are accepted.
    ///
    /// - Throws: `KeystoreError` with `secretNeeded`.
    package func asNew() throws(KeystoreError) -> KeysetSecret {
        guard let passphrase = passphraseBytes else { return self }
        let bytes = passphrase.bytes
        var (controls, characterCount) = ([UInt8](), 0)
        for index in bytes.indices {
            if bytes[index] < 0x20 || bytes[index] == 0x7F { controls.append(bytes[index]) }
            // Each byte but 10xxxxxx begins a character.
            if bytes[index] & 0xC0 != 0x80 { characterCount += 1 }
        }
        let flaws = [
            (controls.contains(UInt8(ascii: "\n")), "has a second line: write it in one line"),
            (controls.contains(UInt8(ascii: "\r")), "contains a carriage return, as lines from Windows have it"),
            (!controls.isEmpty, "contains a NUL or another control character, which nobody can type"),
            (characterCount < 8, "has fewer than 8 characters"),
        ]
        let flaw = TextEncoding(of: bytes).map { "is \($0.flaw)" } ?? flaws.first { $0.0 }?.1
        if let flaw { throw KeystoreError(.secretNeeded, "the new passphrase \(flaw)") }
        return self
    }

    package func hasSamePassphrase(as other: KeysetSecret) -> Bool {
        passphraseBytes != nil && passphraseBytes == other.passphraseBytes
    }

    /// Makes a secret of a passphrase.
    ///
    /// - Parameter bytes: the passphrase with which the keyset was encrypted, UTF-8.
    public static func passphrase(_ bytes: SecretBytes) -> KeysetSecret { KeysetSecret(kind: .passphrase(bytes)) }

    /// Makes a secret of a command that unwraps data keys.
    ///
    /// - Parameter command: a command for /bin/sh; see ``WrapCommand`` for its contract.
    public static func command(_ command: String) -> KeysetSecret { .command(command, variables: [:]) }

    /// - Parameter variables: are added to the command's environment.
    package static func command(_ command: String, variables: [String: String]) -> KeysetSecret {
        KeysetSecret(kind: .command(command, variables))
    }

    /// The same secret. A command gets `PUSHCRYPT_KEYSET_ID` and `PUSHCRYPT_KEYSET_NAME` in its environment.
    package func of(_ location: KeysetLocation, _ id: KeysetID) -> KeysetSecret {
        guard case .command(let command, let variables) = kind else { return self }
        let own = ["PUSHCRYPT_KEYSET_ID": id.description, "PUSHCRYPT_KEYSET_NAME": location.name]
        return .command(command, variables: variables.merging(own) { $1 })
    }

    /// The limit for passphrases that are read from a file, a descriptor or the environment.
    package static let maximumPassphraseByteCount = 1_024

    /// Reads a passphrase from a private file and drops one newline at its end.
    ///
    /// The file must belong to this process's user or to root, and other users must not be able to open it. The group may
    /// read root's files, and links are followed, because container platforms mount secrets in this way.
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

    /// Reads a passphrase from an inherited descriptor to its end and drops one newline there. Doesn't close it.
    ///
    /// - Throws: `KeystoreError` with `inputOutput`, `secretNeeded` as ``passphraseFile(_:)`` and for a terminal.
    package static func passphraseDescriptor(_ descriptor: Int32) throws -> KeysetSecret {
        guard isatty(descriptor) == 0 else {
            throw KeystoreError(
                .secretNeeded, "descriptor \(descriptor) is a terminal, which would show the passphrase")
        }
        return try passphrase(from: OpenFile(descriptor: descriptor, named: "descriptor \(descriptor)"))
    }

    private static func passphrase(from file: OpenFile) throws -> KeysetSecret {
        // Room for CR and LF, and one more byte to detect a passphrase that is too long.
        var buffer = [UInt8](repeating: 0, count: maximumPassphraseByteCount + 3)
        defer { wipe(&buffer) }
        let count = try KeystoreError.convertingFileErrors { try file.readFull(into: &buffer) }
        return try passphrase(line: buffer.bytes.extracting(first: count), from: file.path)
    }

    /// Reads a passphrase from an environment variable. Users who may inspect the process can see it.
    ///
    /// - Throws: `KeystoreError` with `secretNeeded` if the variable isn't set, is empty or has more than 1,024 bytes.
    public static func environment(_ name: String) throws -> KeysetSecret {
        guard var bytes = ProcessEnvironment.bytes(of: name) else {
            throw KeystoreError(
                .secretNeeded, "the environment variable \(name) isn't set; it must contain a passphrase")
        }
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
                .secretNeeded, "the passphrase from \(source) has more than \(maximumPassphraseByteCount) bytes")
        }
        return passphrase(SecretBytes(copying: bytes.extracting(first: count)))
    }
}
