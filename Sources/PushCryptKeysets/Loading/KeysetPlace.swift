import PushCryptCore
import PushCryptPrimitives

/// Where a keyset lies on disk: in the folder of a keystore, or in a file of its own.
package enum KeysetPlace: Sendable {
    case folder(KeysetFolder)
    case file(String)

    package init(folder: String) {
        self = .folder(KeysetFolder(folder))
    }

    package init(file: String) {
        self = .file(file)
    }

    /// What the operator calls it.
    package var path: String {
        switch self {
        case .folder(let keyset): keyset.path
        case .file(let path): path
        }
    }

    package var filePath: String {
        switch self {
        case .folder(let keyset): keyset.path + "/" + KeysetFolder.keysetName
        case .file(let path): path
        }
    }

    /// The folder in which a new file takes the place of the old one.
    package var folderPath: String {
        switch self {
        case .folder(let keyset): return keyset.path
        case .file(let path):
            let parent = FileSystem.parent(of: path)
            return parent.isEmpty ? "." : parent
        }
    }

    /// - Throws: `KeystoreError` with `notFound`, `noPermission`, `notAKeyset`, `inputOutput`.
    package func read() throws -> KeysetText {
        switch self {
        case .folder(let keyset):
            let folder = try Folder(keyset.path)
            let (bytes, access) = try folder.read(KeysetFolder.keysetName)
            return try KeysetText(bytes, .folder(keyset, folder, access), access: [folder.access(), access])
        case .file(let path):
            return try Self.readFile(path)
        }
    }

    private static func readFile(_ path: String) throws -> KeysetText {
        // Without blocking: a pipe under the name would hold up a watcher for good.
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileSystem.failure("read", path) }
        defer { close(descriptor) }
        let status = try FileSystem.status(ofDescriptor: descriptor, path)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw KeystoreError(.notAKeyset, "\(path) is not a file; a file with keys is needed here")
        }
        let bytes = try FileSystem.readAll(descriptor, path)
        let access = FileAccess(status)
        return try KeysetText(bytes, .file(path: path, access), access: [access])
    }
}
