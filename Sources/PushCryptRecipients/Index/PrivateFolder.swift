import PushCryptPrimitives

/// A temporary folder for this user alone, which goes with the object and all that is in it.
final class PrivateFolder: Sendable {
    let path: String

    init() throws(RecipientDirectoryError) {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? ""
        // P_tmpdir is where the system keeps temporary files when nobody says otherwise. The name's last six characters
        // are for mkdtemp to choose (POSIX: they must come as X).
        let unchosen = String(repeating: "X", count: 6)
        var template = Array("\(parent.isEmpty ? P_tmpdir : parent)/pushcrypt-index-\(unchosen)".utf8CString)
        let isMade = unsafe template.withUnsafeMutableBufferPointer { unsafe mkdtemp($0.baseAddress!) != nil }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard isMade else { throw DirectoryFile.failure("create a folder for the index of a directory,", path) }
    }

    deinit {
        guard let folder = unsafe opendir(path) else { return }
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            unsafe unlink(path + "/" + name)
        }
        unsafe closedir(folder)
        unsafe rmdir(path)
    }
}
