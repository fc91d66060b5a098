import PushCryptCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Where attachments are written, for the owner alone:
///
/// ```
/// UUID.part         being received
/// UUID.EXTENSION    verified; the system moves it away when the notification is shown
/// ```
struct AttachmentFolder: Sendable {
    let path: String

    /// How old a file is before another process may take it for a leftover, in seconds: no extension lives so long.
    static let leftoverAgeInSeconds: Int64 = 3600

    /// A new file in it; the folder is made where there is none.
    ///
    /// - Throws: `AttachmentError` with `noSpace`, `inputOutput`.
    func makePartFile() throws(AttachmentError) -> PartFile {
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .failure("make the folder") }
        return try PartFile(path + "/" + UUID().uuidString)
    }

    /// Removes what processes left behind that were killed, whole files among it: their notification never came.
    ///
    /// - Parameter time: now.
    func removeLeftovers(at time: UnixTime) {
        guard let folder = unsafe opendir(path) else { return }
        defer { unsafe closedir(folder) }
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            let file = path + "/" + name
            guard Self.isOwnName(name), let age = Self.ageInSeconds(of: file, at: time) else { continue }
            if age > Self.leftoverAgeInSeconds { unsafe unlink(file) }
        }
    }

    private static func isOwnName(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && UUID(uuidString: String(parts[0])) != nil
    }

    /// Since the last write.
    private static func ageInSeconds(of file: String, at time: UnixTime) -> Int64? {
        var status = stat()
        guard unsafe lstat(file, &status) == 0 else { return nil }
        #if canImport(Darwin)
        let seconds = status.st_mtimespec.tv_sec
        #else
        let seconds = status.st_mtim.tv_sec
        #endif
        return time.seconds - Int64(seconds)
    }
}
