package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets

extension KeysetStore {
    /// Makes a new keyset with one key, the primary at once: the whole folder appears, or nothing does. What an
    /// interrupted `create` left beside it is discarded.
    ///
    /// - Returns: what was discarded, for people.
    /// - Throws: `KeystoreError` with `alreadyExists` when the name is taken by anything.
    @discardableResult
    package func create(
        _ record: KeyRecord, _ policy: RotationPolicy, _ protection: Protection, _ secret: KeysetSecret?,
        at time: UnixTime, by actor: Actor, as action: AuditEvent.Action = .created
    ) throws -> [String] {
        let path = folder.path
        guard !FileSystem.exists(path) else { throw KeystoreError(.alreadyExists, "\(path) exists already") }
        let empty = KeysetMetadata(
            kind: record.kind, sequence: 0, timeline: KeyTimeline([]), policy: policy, audit: .none, traits: [:])
        var editor = KeysetEditor(
            StoredKeyset(metadata: empty, records: [:], protection: protection, secret: secret), at: time)
        try editor.add(record, activatesAt: time, as: action)
        let stored = try editor.finished(after: nil, by: actor)
        let folders = try KeystoreError.converting { () throws(FileError) in
            try FileSystem.makeFolders(FileSystem.parent(of: path))
            return TemporaryKeysetFolders(in: try FileSystem.folder(of: path))
        }
        let notices = folders.discard()
        try folders.publish(as: FileSystem.name(of: path)) { folder in
            FaultPoint.reach("create-folder")
            let store = KeysetStore(folder.path)
            try store.writeKeyset(stored, folder)
            try store.writeRest(stored, folder)
            FaultPoint.reach("create-written")
        }
        FaultPoint.reach("create-published")
        return notices
    }
}

/// The folders of keysets that are being made, which have a temporary name until they are complete.
///
/// The process that makes one holds its lock until the end, also after a rename. One whose lock is free was left by a
/// crash. Others may be able to write in the folder that they are made in: everything in it goes through its descriptor.
struct TemporaryKeysetFolders {
    private let parent: Folder

    private static let prefix = ".new-"

    /// - Parameter parent: the folder that they are made in.
    init(in parent: Folder) {
        self.parent = parent
    }

    /// Makes a folder, has it filled and gives it its name, which must be free. After an error nothing is left of it.
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

    /// A process that discards what a crash left may take a new folder for such, until it is locked: then another one is
    /// made. A folder that another user put in its place is refused.
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

    /// Removes what crashes left.
    ///
    /// - Returns: what was removed, for people.
    func discard() -> [String] {
        let names = (try? parent.names()) ?? []
        return names.filter(Self.isOne).compactMap { name in
            guard let folder = try? parent.folder(name), let found = try? folder.names(),
                found.allSatisfy(Self.isOurs), (try? folder.lock(.exclusive, .none)) != nil,
                parent.remove(folder)
            else { return nil }
            return "discarded \(folder.path), which an interrupted `keys create` had not finished"
        }
    }

    static func isOne(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + FileSystem.randomNameCharacterCount
    }

    /// A folder with anything else in it was not made here, whatever its name.
    private static func isOurs(_ name: String) -> Bool {
        [KeysetFolder.keysetName, KeysetFolder.publicName, KeysetFolder.auditName].contains(name)
            || Folder.isLeftover(name)
    }
}
