import PushCryptKeysets

/// Folders of keysets that are being made: under a name of their own until they are whole.
///
/// Whoever makes one holds its lock until the end, also after a rename; one whose lock is free belongs to nobody any more.
struct UnfinishedFolders {
    /// The folder that they are made in; empty for the current one.
    let parent: String

    private static let prefix = ".new-"

    private func path(_ name: String) -> String { parent.isEmpty ? name : parent + "/" + name }

    /// Makes a folder, has it filled and gives it its name, which must be free. After an error nothing is left of it.
    func publish(as path: String, _ fill: (Folder) throws -> Void) throws {
        let folder = try make()
        do {
            try fill(folder)
            try FileSystem.publishFolder(folder.path, as: path)
        } catch {
            FileSystem.removeFolder(folder.path)
            throw error
        }
    }

    /// Somebody who discards what a crash left may take a new folder for such, until it is locked: then another one is
    /// made.
    private func make() throws(KeystoreError) -> Folder {
        while true {
            let temporary = path(Self.prefix + (try FileSystem.randomName()))
            try FileSystem.makeFolder(temporary)
            do throws(KeystoreError) {
                let folder = try Folder(temporary)
                try folder.lock(.exclusive)
                return folder
            } catch {
                guard [.notFound, .changedMeanwhile].contains(error.code) else {
                    FileSystem.removeFolder(temporary)
                    throw error
                }
            }
        }
    }

    /// Removes what crashes left.
    ///
    /// - Returns: what was removed, for people.
    func discard() -> [String] {
        let names = (try? FileSystem.names(in: parent.isEmpty ? "." : parent)) ?? []
        return names.filter(Self.isOne).compactMap { name in
            let path = path(name)
            guard let folder = try? Folder(path), let found = try? folder.names(), found.allSatisfy(Self.isOurs),
                (try? folder.lockAtOnce()) == true
            else { return nil }
            FileSystem.removeFolder(path)
            guard !FileSystem.exists(path) else { return nil }
            return "discarded \(path), which an interrupted `keys create` had not finished"
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
