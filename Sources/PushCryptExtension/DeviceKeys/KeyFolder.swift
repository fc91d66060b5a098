package import PushCryptFiles
import PushCryptPrimitives

/// An open folder of small private files that an app and its extension share.
///
/// Before the first unlock, opening or reading a file fails with EPERM or EACCES, which is `locked`. Names can be read at
/// any time, so ENOENT means that the file doesn't exist.
final class KeyFolder {
    private let folder: Folder
    private var lockedFile: FileLock?

    /// - Parameter creating: creates the folder, mode 0700, if it doesn't exist; its parent must exist.
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`; `insecure` for a link, a folder of another user, or a folder
    ///   that others may write in.
    init(_ path: String, creating: Bool = false) throws(DeviceKeyError) {
        folder = try DeviceKeyError.converting { () throws(FileError) in
            if creating { try Folder.makeIfMissing(path, isProtected: true) }
            let folder = try Folder(path)
            // A user who can write in the folder could replace the device's key by their own.
            try folder.check(.othersMayRead)
            return folder
        }
    }

    /// Waits for the exclusive lock of the folder. It is released with the object, or when the process ends.
    func lock() throws(DeviceKeyError) {
        lockedFile = try DeviceKeyError.converting { () throws(FileError) in
            let lock = try FileLock(in: folder, named: "keys.lock")
            try lock.lock(.exclusive, .forever)
            return lock
        }
    }

    /// The limit of a file; the longest is a signed set with the revocations of its epoch.
    static let maximumByteCount = 1 << 20

    /// - Throws: `DeviceKeyError` with `notFound`, `locked`; `damaged` for a file over the limit; `insecure` for a link, for
    ///   something other than a file, or if another user owns or can reach the file.
    func read(_ name: String) throws(DeviceKeyError) -> [UInt8] {
        try DeviceKeyError.converting { () throws(FileError) in
            try folder.read(name, .ownerOnly, limitInBytes: Self.maximumByteCount).bytes
        }
    }

    func has(_ name: String) -> Bool { folder.has(name) }

    func names() throws(DeviceKeyError) -> [String] {
        try DeviceKeyError.converting { () throws(FileError) in try folder.names() }
    }

    /// Replaces the file in one step: after a crash it is the old or the new one, never a part. Call ``lock()`` first.
    /// Throws `DeviceKeyError` with `unsuitable` for more bytes than ``read(_:)`` accepts, `locked`, `failed`.
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

    /// Removes a file. Call ``lock()`` first.
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
