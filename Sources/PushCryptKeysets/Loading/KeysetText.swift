package import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

/// The text of a keyset as it was found: a keystore's `keyset.json`, a JWK set or one JWK. Wiped with the object.
package final class KeysetText {
    /// Identifies a text and who may reach it.
    package struct Version: Hashable, Sendable {
        /// SHA-256 of the text.
        let digest: [UInt8]
        let access: [FileAccess]
    }

    enum Origin {
        /// The folder that was opened to read it, and the access of the file in it.
        case folder(KeysetFolder, Folder, FileAccess)
        case file(path: String, FileAccess)
        case environment(name: String)
    }

    package let version: Version
    private let origin: Origin
    private var bytes: [UInt8]

    /// - Parameter bytes: the only copy, wiped here.
    init(_ bytes: [UInt8], _ origin: Origin, access: [FileAccess]) throws {
        version = Version(digest: try KeysetFile.digest(bytes[...]), access: access)
        self.bytes = bytes
        self.origin = origin
    }

    deinit {
        wipe(&bytes)
    }

    /// - Parameter secret: nil for none. Whatever else it is, the keys must be encrypted.
    /// - Throws: `KeystoreError`, `KeyError`, each naming where the text came from.
    package func keyset(_ secret: KeysetSecret?, allowsDemoKeys: Bool) throws -> Keyset {
        let keyset: Keyset
        do {
            keyset = try read(SecretSource(secret, acceptingDemoKeys: allowsDemoKeys))
        } catch let error as KeyError {
            throw KeyError(error.code, "\(source): \(error.reason)")
        } catch let error as CryptoError where error.code == .invalidParameters {
            // Of scrypt, which stand in the file.
            throw KeyError(.malformed, "\(source): \(error.reason)")
        }
        let isDemo = DemoKeys.contains(keyset)
        guard allowsDemoKeys || !isDemo else {
            throw KeystoreError(
                .demoKeys, "\(source) holds demo keys, which are published with pushcrypt and protect nothing")
        }
        if case .file(let path, let access) = origin, keyset.holdsSecrets, !DemoKeys.covers(keyset.keyIDs) {
            try KeystoreError.converting { () throws(FileError) in try access.check(.ownerOrRootsGroup, path) }
        }
        return keyset
    }

    private func read(_ secret: SecretSource) throws -> Keyset {
        if case .folder(let keyset, let folder, let access) = origin {
            return try keyset.file(bytes, access, in: folder).unlocked(secret).keyset()
        }
        // What a keystore wrote says so by its digest; of encrypted keys nothing else is known to read.
        let root = (try? JSONText(bytes))?.root
        guard root?["sealed"] != nil || root?[KeysetFile.digestName] != nil else {
            return try Keyset(plainText: bytes, from: source, secret)
        }
        return try KeysetFile(bytes, path: source).unlocked(secret).keyset()
    }

    private var source: String {
        switch origin {
        case .folder(let keyset, _, _): keyset.path
        case .file(let path, _): path
        case .environment(let name): "the environment variable \(name)"
        }
    }
}

extension Keyset {
    /// Whether anything in it is not for everybody: private halves, shared keys, pre-shared keys.
    fileprivate var holdsSecrets: Bool {
        kind == .shared || entries.contains { $0.record.isPrivateAsymmetric || $0.record.hasPSK }
    }
}

extension KeysetText {
    /// - Throws: `KeystoreError` with `notFound` or `notAKeyset`.
    convenience init(environment name: String) throws {
        guard let value = unsafe getenv(name) else {
            throw KeystoreError(.notFound, "the environment variable \(name) isn't set; it is to hold a keyset")
        }
        let bytes = unsafe UnsafeRawBufferPointer(start: value, count: strlen(value))
        var text = unsafe Array(bytes.drop(while: Self.isWhiteSpace))
        if text.first != UInt8(ascii: "{") {
            defer { wipe(&text) }
            guard let decoded = Base64.decode(text.bytes, .any) else {
                throw KeystoreError(
                    .notAKeyset, "the environment variable \(name) holds neither JSON, which begins with {, nor base64")
            }
            try self.init([UInt8](decoded.bytes), .environment(name: name), access: [])
            return
        }
        try self.init(text, .environment(name: name), access: [])
    }

    /// Of JSON, RFC 8259 section 2.
    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D].contains(byte)
    }
}
