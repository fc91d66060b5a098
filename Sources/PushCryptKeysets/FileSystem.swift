import PushCryptCore
import PushCryptPrimitives

/// The few system calls of a keystore by path, with errors that say what and where.
package enum FileSystem {
    /// The whole file. Key files are small: one of more than 16 MiB is refused.
    package static func readFile(_ path: String) throws(KeystoreError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("read", path) }
        defer { close(descriptor) }
        guard try status(ofDescriptor: descriptor, path).st_mode & S_IFMT != S_IFDIR else {
            throw KeystoreError(.notAKeyset, "\(path) is a folder; a key file is needed here")
        }
        return try readAll(descriptor, path)
    }

    /// Opens a private file. The group may read one of root's, and links are followed, because container platforms mount
    /// secrets like that.
    ///
    /// - Returns: a descriptor to close.
    static func openPrivateFile(_ path: String) throws(KeystoreError) -> Int32 {
        // Without blocking: a pipe under the name would hold up the process for good.
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("read", path) }
        do throws(KeystoreError) {
            let status = try status(ofDescriptor: descriptor, path)
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw KeystoreError(.notAKeyset, "\(path) is not a file; a private file is needed here")
            }
            try check(FileAccess(status), .ownerOrRootsGroup, path)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// - Throws: `KeystoreError` with `foreignOwner` or `looseMode`.
    static func check(_ access: FileAccess, _ rule: FileAccess.Rule, _ path: String) throws(KeystoreError) {
        do throws(AccessFlaw) {
            try access.check(rule, path)
        } catch {
            throw KeystoreError(error.kind == .owner ? .foreignOwner : .looseMode, error.reason)
        }
    }

    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    static func isSymbolicLink(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// The names in a folder, sorted, without `.` and `..`.
    package static func names(in path: String) throws(KeystoreError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw failure("read", path) }
        defer { unsafe closedir(folder) }
        var names = [String]()
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Makes the folder and those above it, for the owner alone.
    package static func makeFolders(_ path: String) throws(KeystoreError) {
        guard !path.isEmpty, !isFolder(path) else { return }
        try makeFolders(parent(of: path))
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("create", path) }
    }

    package static func makeFolder(_ path: String) throws(KeystoreError) {
        guard unsafe mkdir(path, 0o700) == 0 else { throw failure("create", path) }
    }

    /// Writes a file in one step: a crash leaves the old one or the new one, never a part.
    package static func replace(_ path: String, with bytes: [UInt8], mode: Int = 0o600) throws(KeystoreError) {
        let parent = parent(of: path)
        let name = String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
        let folder: Folder
        do throws(KeystoreError) {
            folder = try Folder(parent.isEmpty ? "." : isSymbolicLink(parent) ? parent + "/." : parent)
        } catch {
            throw error.code == .notFound
                ? KeystoreError(.cannotCreate, "can't create \(path): \(error.reason)") : error
        }
        try folder.replace(name, with: bytes, mode: mode)
    }

    /// Gives a finished folder its name, which must be free.
    package static func publishFolder(_ temporary: String, as path: String) throws(KeystoreError) {
        guard !exists(path) else { throw KeystoreError(.alreadyExists, "\(path) exists already") }
        guard unsafe rename(temporary, path) == 0 else { throw failure("create", path) }
        try synchronizeFolder(of: path)
    }

    /// Makes the name of a file or folder last.
    static func synchronizeFolder(of path: String) throws(KeystoreError) {
        try Folder(parent(of: path).isEmpty ? "." : parent(of: path) + "/.").synchronize()
    }

    /// Removes a folder with the files in it.
    package static func removeFolder(_ path: String) {
        for name in (try? names(in: path)) ?? [] { unsafe unlink(path + "/" + name) }
        unsafe rmdir(path)
    }

    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
