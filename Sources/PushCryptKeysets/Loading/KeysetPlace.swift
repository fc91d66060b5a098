import PushCryptCore
import PushCryptFiles

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
            return try KeystoreError.convertingFileErrors {
                let folder = try Folder(keyset.path)
                let (bytes, access) = try folder.read(KeysetFolder.keysetName)
                return try KeysetText(
                    bytes, .folder(keyset, folder, access), access: [folder.status().access, access])
            }
        case .file(let path):
            return try KeystoreError.convertingFileErrors {
                let file = try OpenFile(path)
                let access = try file.requireFile(advice: "; a file with keys is needed here").access
                return try KeysetText(file.readAll(), .file(path: path, access), access: [access])
            }
        }
    }
}
