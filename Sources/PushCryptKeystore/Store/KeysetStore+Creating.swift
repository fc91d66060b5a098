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
        try requireNewName()
        let empty = KeysetMetadata(kind: record.kind, policy: policy)
        var editor = KeysetEditor(
            StoredKeyset(metadata: empty, records: [:], protection: protection, secret: secret), at: time)
        try editor.add(record, activatesAt: time, as: action)
        let stored = try editor.finished(by: actor, at: folder.path)
        return try publishFolder { folder in
            let store = KeysetStore(folder.path)
            try store.writeKeyset(stored, folder)
            try store.writeRest(stored, store.changedPublic(stored, folder), folder)
        }
    }

    /// Makes the keyset's folder under a temporary name and renames it when `fill` has written its files.
    ///
    /// - Returns: messages about the folders of interrupted calls, which were removed.
    func publishFolder(_ fill: (Folder) throws -> Void) throws -> [String] {
        let path = folder.path
        let folders = try KeystoreError.convertingFileErrors {
            let keystore = FileSystem.parent(of: path)
            try FileSystem.makeFolders(keystore)
            let folder = try FileSystem.folder(of: path)
            // In the keystore of another user, that user could neither use the keyset nor rotate the others without an error.
            try folder.status().access.checkOwner(keystore)
            return TemporaryKeysetFolders(in: folder)
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

    /// Refuses a name that is taken or that people can't read or type, and one under which `rotate --all` would not find the
    /// keyset: it looks at the folders in a keystore, without the hidden ones, and not into them.
    ///
    /// - Throws: `KeystoreError` with `invalidName`, `alreadyExists`.
    package func requireNewName() throws(KeystoreError) {
        let (path, name) = (folder.path, FileSystem.name(of: folder.path))
        func refusal(_ reason: String) -> KeystoreError { KeystoreError(.invalidName, "\(path): \(reason)") }
        guard !FileSystem.exists(path) else {
            throw KeystoreError(
                .alreadyExists, "\(path) exists already: choose another name (`keys add` adds a key to a keyset)")
        }
        guard !name.hasPrefix(".") else {
            throw refusal("`rotate --all` skips hidden folders: choose a name without the dot")
        }
        guard !name.hasPrefix("-") else {
            throw refusal("the name of a keyset can't begin with a hyphen, as options do")
        }
        // Messages, pages and commands to paste contain the name.
        guard !name.unicodeScalars.contains(where: { $0.isControlOrFormat || $0.isQuote }) else {
            throw refusal("the name of a keyset can't have quotes, backslashes, and control or format characters")
        }
        let above = Self.foldersAbove(path)
        for folder in above {
            guard try KeysetFolder(folder).exists else { continue }
            throw refusal("\(folder) is a keyset, and `rotate --all` finds none below it: choose another folder")
        }
        for keystore in above.dropFirst() where keystore != "." {
            guard let neighbour = Self.keyset(inKeystore: keystore) else { continue }
            throw refusal(
                "\(keystore) is a keystore, which contains \(neighbour), and `rotate --all` looks only at the folders in it: "
                    + "choose \(keystore)/\(name), or a folder outside of \(keystore)")
        }
    }

    /// A keyset in the folder, if it is a keystore: one that has the usual name or contains nothing but keysets. A home folder with
    /// a keyset in it isn't one.
    private static func keyset(inKeystore path: String) -> String? {
        guard let keysets = try? Keystore(path).keysets(includingDemoKeys: false), let first = keysets.first else {
            return nil
        }
        let names = (try? FileSystem.names(in: path).filter { !$0.hasPrefix(".") }) ?? []
        return FileSystem.name(of: path) == "Keys" || names.count == keysets.count ? first : nil
    }

    /// The folders that a path names, from the nearest one. A relative path also has the current folder.
    private static func foldersAbove(_ path: String) -> [String] {
        var (folders, rest) = ([String](), KeysetFolder(FileSystem.parent(of: path)).path)
        while !rest.isEmpty, rest != "/" {
            folders.append(rest)
            rest = KeysetFolder(FileSystem.parent(of: rest)).path
        }
        return rest.isEmpty && folders.last != "." ? folders + ["."] : folders
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
            let folder = try make(for: name)
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
    private func make(for finalName: String) throws(FileError) -> Folder {
        while true {
            let name = Self.prefix + FileSystem.randomName()
            do throws(FileError) { try parent.makeFolder(name) } catch {
                throw FileError(.create, parent.path(of: finalName), systemError: error.systemError)
            }
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

extension Unicode.Scalar {
    fileprivate var isQuote: Bool { properties.isQuotationMark || self == "`" || self == "\\" }
}
