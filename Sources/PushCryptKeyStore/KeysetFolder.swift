package import PushCryptCore
import PushCryptPrimitives

/// One keyset of a keystore: a folder for its owner alone with `keyset.json`, the private JWK set and its lifecycle,
/// in it.
package struct KeysetFolder: Sendable {
    package let path: String

    private static let fileName = "keyset.json"
    private var file: String { path + "/" + Self.fileName }

    package init(_ path: String) {
        let trimmed = path.reversed().drop { $0 == "/" }
        self.path = trimmed.isEmpty ? path : String(trimmed.reversed())
    }

    /// Whether a keyset is there.
    package var exists: Bool { FileSystem.exists(file) }

    /// Writes a new keyset: the whole folder appears at once, or nothing does.
    ///
    /// - Throws: `KeyStoreError` with `alreadyExists` when the name is taken by anything.
    package func create(_ keyset: Keyset) throws {
        guard !FileSystem.exists(path) else { throw KeyStoreError(.alreadyExists, "\(path) exists already") }
        let parent = FileSystem.parent(of: path)
        try FileSystem.makeFolders(parent)
        let random = Base64URL.encode(try DefaultBackend.shared.randomBytes(count: 6))
        let temporary = KeysetFolder((parent.isEmpty ? "" : parent + "/") + ".new-\(random)")
        try FileSystem.makeFolder(temporary.path)
        do {
            try temporary.write(keyset)
            try FileSystem.publishFolder(temporary.path, as: path)
        } catch {
            FileSystem.removeFolder(temporary.path, files: [Self.fileName])
            throw error
        }
    }

    /// The keyset. A private one must be private on disk; the published demo keysets are exempt.
    ///
    /// - Throws: `KeyStoreError`, `KeyError`.
    package func load() throws -> Keyset {
        var bytes = try FileSystem.readFile(file)
        defer { wipe(&bytes) }
        let keyset = try Keyset(json: bytes)
        if !DemoKeys.covers(keyset) {
            try FileSystem.requirePrivate(path, mode: 0o700)
            try FileSystem.requirePrivate(file, mode: 0o600)
        }
        return keyset
    }

    private func write(_ keyset: Keyset) throws {
        var json = try keyset.jwkSet(withHistory: true)
        defer { wipe(&json) }
        try FileSystem.replace(file, with: json)
    }
}
