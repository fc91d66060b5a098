package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets

extension KeysetStore {
    /// Makes a new keyset with one key, which is the primary at once. The folder appears only when it is complete. Removes
    /// folders that interrupted calls left in the same parent folder.
    ///
    /// - Returns: messages about the folders that were removed.
    /// - Throws: `KeystoreError` with `alreadyExists` if the name is taken.
    @discardableResult
    package func create(
        _ record: KeyRecord, _ policy: RotationPolicy, _ protection: Protection, _ secret: KeysetSecret?,
        at time: UnixTime, by actor: Actor, as action: AuditEvent.Action = .created
    ) throws -> [String] {
        let path = folder.path
        guard !FileSystem.exists(path) else { throw KeystoreError(.alreadyExists, "\(path) exists already") }
        let empty = KeysetMetadata(kind: record.kind, policy: policy)
        var editor = KeysetEditor(
            StoredKeyset(metadata: empty, records: [:], protection: protection, secret: secret), at: time)
        try editor.add(record, activatesAt: time, as: action)
        let stored = try editor.finished(by: actor)
        return try publishFolder { folder in
            let store = KeysetStore(folder.path)
            try store.writeKeyset(stored, folder)
            try store.writeRest(stored, folder)
        }
    }

    /// Makes the keyset's folder under a temporary name and renames it when `fill` has written its files.
    ///
    /// - Returns: messages about the folders of interrupted calls, which were removed.
    func publishFolder(_ fill: (Folder) throws -> Void) throws -> [String] {
        let path = folder.path
        let folders = try KeystoreError.convertingFileErrors {
            try FileSystem.makeFolders(FileSystem.parent(of: path))
            return TemporaryKeysetFolders(in: try FileSystem.folder(of: path))
        }
        let notices = folders.discard()
        try folders.publish(as: FileSystem.name(of: path)) { folder in
            FaultPoint.reach("create-folder")
            try fill(folder)
            FaultPoint.reach("create-written")
        }
        FaultPoint.reach("create-published")
        return notices
    }
}

/// The folders of new keysets, which have a temporary name until they are complete.
///
/// The process that makes a folder holds its lock to the end, also after the rename. So a folder that no process has locked
/// was left by a crash. Other users may be able to write to the parent folder, so all calls use its descriptor.
struct TemporaryKeysetFolders {
    private let parent: Folder

    private static let prefix = ".new-"

    init(in parent: Folder) { self.parent = parent }

    /// Makes a folder, calls `fill` and renames the folder to `name`, which must be free. Removes the folder after an error.
    ///
    /// - Throws: `KeystoreError` with `alreadyExists`, `cannotCreate`, `noPermission`; what `fill` throws.
    func publish(as name: String, _ fill: (Folder) throws -> Void) throws {
        try KeystoreError.convertingFileErrors {
            let folder = try make()
            do {
                try fill(folder)
                try parent.publish(FileSystem.name(of: folder.path), as: name)
            } catch {
                parent.remove(folder)
                throw error
            }
        }
    }

    /// Until the new folder is locked, another process may remove it as the leftover of a crash. Then this function makes
    /// another one. It refuses a folder that another user put in its place.
    private func make() throws(FileError) -> Folder {
        while true {
            let name = Self.prefix + FileSystem.randomName()
            try parent.makeFolder(name)
            do throws(FileError) {
                let folder = try parent.folder(name)
                try folder.check(.ownerOnly)
                try folder.lock(.exclusive, .none)
                return folder
            } catch {
                guard [.notFound, .busy, .changedMeanwhile].contains(error.code) else {
                    parent.removeFolder(name)
                    throw error
                }
            }
        }
    }

    /// Removes the folders that crashes left.
    ///
    /// - Returns: messages about the folders that were removed.
    func discard() -> [String] {
        let names = (try? parent.names()) ?? []
        return names.filter(Self.isTemporary).compactMap { name in
            guard let folder = try? parent.folder(name), let found = try? folder.names(),
                found.allSatisfy(Self.isOurs), (try? folder.lock(.exclusive, .none)) != nil,
                parent.remove(folder)
            else { return nil }
            return "discarded \(folder.path), which an interrupted `keys create` had not finished"
        }
    }

    static func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + FileSystem.randomNameCharacterCount
    }

    /// Whether a keyset's folder contains files of this name. This type didn't make a folder with any other file.
    private static func isOurs(_ name: String) -> Bool {
        [KeysetFolder.keysetName, KeysetFolder.publicName, KeysetFolder.auditName].contains(name)
            || Folder.isLeftover(name)
    }
}
