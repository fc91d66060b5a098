import PushCryptFiles
import PushCryptPrimitives

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where attachments are written, for the owner alone:
///
/// ```
/// PROCESS-AGE-UUID.part         being received
/// PROCESS-AGE-UUID.EXTENSION    verified; the system moves it away when the notification is shown
///
/// PROCESS    the number of the process that writes it
/// AGE        how long ago the device had been started when the file was made, in seconds
/// ```
/// A file is a leftover when its process is gone, or when it is an hour old. The name says so and not the file's date: the
/// device's clock may be set at any time. Locks would say it, too, but the system ends a process that is suspended with a
/// lock in an app group's folder (`0xdead10cc`).
struct AttachmentFolder: Sendable {
    let path: String
    var process: pid_t = getpid()
    /// See ``BootSession/ageInSeconds``.
    var bootAge: @Sendable () -> Int64 = { BootSession.ageInSeconds }
    /// true also for a process that can't be asked about: then the hour alone decides.
    var isRunning: @Sendable (pid_t) -> Bool = { kill($0, 0) == 0 || errno != ESRCH }

    /// In seconds; no extension runs so long.
    static let leftoverAgeInSeconds: Int64 = 3600

    /// A new file in it; the folder is made where there is none.
    ///
    /// - Throws: `AttachmentError` with `noSpace`, `inputOutput`.
    func makePartFile() throws(AttachmentError) -> PartFile {
        let folder = try AttachmentError.converting { () throws(FileError) in
            try Folder.makeIfMissing(path)
            return try Folder(path, followingLinks: true)
        }
        return try PartFile(in: folder, named: "\(process)-\(bootAge())-\(UUID().uuidString)")
    }

    /// Removes what processes left behind that were killed, whole files among it: their notification never came.
    func removeLeftovers() {
        guard let folder = try? Folder(path, followingLinks: true), let names = try? folder.names() else { return }
        let now = bootAge()
        for name in names where isLeftover(name, at: now) { try? folder.remove(name) }
    }

    private func isLeftover(_ name: String, at now: Int64) -> Bool {
        guard let (process, made) = Self.origin(of: name) else { return false }
        // Made later than now: before the device's last start.
        let age = now >= made ? now - made : .max
        return age > Self.leftoverAgeInSeconds || process != self.process && !isRunning(process)
    }

    /// nil for what isn't the folder's own.
    private static func origin(of name: String) -> (process: pid_t, made: Int64)? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let fields = parts[0].split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, let process = pid_t(fields[0]), let made = Int64(fields[1]),
            UUID(uuidString: String(fields[2])) != nil
        else { return nil }
        return process > 0 ? (process, made) : nil
    }
}
