package import PushCryptFiles
import PushCryptPrimitives

/// An open folder of small private files, shared by an app and its extension.
///
/// Before the device's first unlock, data protection answers EPERM or EACCES when a file is opened or read: that is
/// `locked`. Names can be read at any time, so ENOENT does mean that there is none.
final class KeyFolder {
    private let folder: Folder
    private var lockedFile: FileLock?

    /// - Parameter creating: makes the folder, mode 0700, where there is none; those above it must exist.
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`, `insecure` for a link, for a folder of another user, or where
    ///   others may write.
    init(_ path: String, creating: Bool = false) throws(DeviceKeyError) {
        folder = try DeviceKeyError.converting { () throws(FileError) in
            if creating { try Folder.makeIfMissing(path, isProtected: true) }
            let folder = try Folder(path)
            // A user who can write in the folder can replace the device's key by one of their own.
            try folder.check(.othersMayRead)
            return folder
        }
    }

    /// Waits until no other writer holds the folder; given back with the object, also by a crash.
    func lock() throws(DeviceKeyError) {
        lockedFile = try DeviceKeyError.converting { () throws(FileError) in
            let lock = try FileLock(in: folder, named: "keys.lock")
            try lock.lock(.exclusive, .forever)
            return lock
        }
    }

    /// Of a file; a set of a few hundred sender keys is the longest.
    static let maximumByteCount = 1 << 20

    /// A whole file.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`, `damaged` for a file that is far too long, `insecure` for a
    ///   link, what is no file, what belongs to another user, or what others can reach.
    func read(_ name: String) throws(DeviceKeyError) -> [UInt8] {
        try DeviceKeyError.converting { () throws(FileError) in
            try folder.read(name, .ownerOnly, limitInBytes: Self.maximumByteCount).bytes
        }
    }

    func has(_ name: String) -> Bool { folder.has(name) }

    func names() throws(DeviceKeyError) -> [String] {
        try DeviceKeyError.converting { () throws(FileError) in try folder.names() }
    }

    // MARK: Writing, for the holder of the lock

    /// Puts a new file in place of `name` in one step: a crash leaves the old one or the new one, never a part.
    ///
    /// - Throws: `DeviceKeyError` with `unsuitable` for more bytes than ``read(_:)`` takes, `locked`, `failed`.
    func replace(_ name: String, with bytes: [UInt8]) throws(DeviceKeyError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw DeviceKeyError(
                .unsuitable, "\(folder.path(of: name)) would be longer than \(Self.maximumByteCount) bytes")
        }
        try DeviceKeyError.converting { () throws(FileError) in
            for leftover in try folder.leftovers() { try? folder.remove(leftover) }
            try folder.replace(name, with: bytes, isProtected: true)
        }
    }

    func remove(_ name: String) throws(DeviceKeyError) {
        try DeviceKeyError.converting { () throws(FileError) in
            try folder.remove(name)
            try folder.synchronize()
        }
    }
}

extension DeviceKeyError: FileErrorConvertible {
    package init(_ error: FileError) {
        let code: Code =
            switch error.code {
            case _ where error.systemError == ENOTDIR: .insecure
            case .notFound: .notFound
            case .noPermission where error.systemError != EROFS: .locked
            case .symbolicLink, .notAFile, .foreignOwner, .looseMode: .insecure
            case .tooLong: .damaged
            default: .failed
            }
        self.init(code, error.reason)
    }
}
