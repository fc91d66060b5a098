package import PushCryptFiles
import PushCryptPrimitives

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The folder that attachments are written to, for the owner alone:
///
/// ```
/// PROCESS-AGE-UUID.part         being received
/// PROCESS-AGE-UUID.EXTENSION    verified; the system moves it away when the notification is shown
///
/// PROCESS    the id of the process that writes the file
/// AGE        seconds from the device's start until the file was made
/// ```
/// A file is a leftover when its process has ended, or after an hour. The age is in the name because the file's date
/// depends on the device's clock, which may be set at any time. Locks aren't used: the system ends a process that is
/// suspended while it holds a lock in an app group's folder (`0xdead10cc`).
struct AttachmentFolder: Sendable {
    let path: String
    var process: pid_t = getpid()
    var bootAge: @Sendable () -> Int64 = { BootSession.ageInSeconds }
    /// Whether a process is running. A process that this one may not signal counts as running; its files are removed after
    /// an hour.
    var isRunning: @Sendable (pid_t) -> Bool = { kill($0, 0) == 0 || errno != ESRCH }

    /// No extension runs for an hour.
    static let leftoverAgeInSeconds: Int64 = 3600

    /// Creates the folder too if there is none. Throws `noSpace`, `inputOutput`.
    func makePartFile() throws(TransferError) -> PartFile {
        try TransferError.converting { () throws(FileError) in
            try Folder.makeIfMissing(path, isProtected: true)
            let folder = try Folder(path, followingLinks: true)
            let stem = "\(process)-\(bootAge())-\(UUID().uuidString)"
            return PartFile(in: folder, named: stem, try folder.makeFile(stem + ".part", isProtected: true))
        }
    }

    /// Removes the files of killed processes. Complete files are removed too: their notification was never shown.
    func removeLeftovers() {
        guard let folder = try? Folder(path, followingLinks: true), let names = try? folder.names() else { return }
        let now = bootAge()
        for name in names where isLeftover(name, at: now) { try? folder.remove(name) }
    }

    private func isLeftover(_ name: String, at now: Int64) -> Bool {
        guard let (process, made) = Self.origin(of: name) else { return false }
        // If the age in the name is greater than the device's, the file was made before the last start.
        let age = now >= made ? now - made : .max
        return age > Self.leftoverAgeInSeconds || process != self.process && !isRunning(process)
    }

    /// nil for a file that this library didn't make.
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

/// A file that is being written. The caller ends it once, by ``publish(extension:)`` or ``remove()``.
struct PartFile: Sendable {
    private let folder: Folder
    private let file: OpenFile
    private let stem: String

    private var name: String { stem + ".part" }

    /// - Parameter stem: the name without its extension.
    init(in folder: Folder, named stem: String, _ file: OpenFile) {
        self.folder = folder
        self.stem = stem
        self.file = file
    }

    /// - Throws: `TransferError` with `noSpace`, `inputOutput`; some of the bytes may have been written.
    func write(_ bytes: [UInt8]) throws(TransferError) {
        try TransferError.converting { () throws(FileError) in try file.write(bytes) }
    }

    /// Renames the file. The folder isn't synchronised, because the notification doesn't survive a power failure either.
    ///
    /// - Returns: its path.
    /// - Throws: `TransferError` with `noSpace`, `inputOutput`; the file is removed then.
    func publish(extension fileExtension: String) throws(TransferError) -> String {
        let published = stem + "." + fileExtension
        do throws(FileError) {
            try folder.rename(name, to: published, isLasting: false)
        } catch {
            remove()
            throw TransferError(error)
        }
        return folder.path(of: published)
    }

    func remove() { try? folder.remove(name) }
}

extension TransferError: FileErrorConvertible {
    /// Leaves out the path, which may identify the recipient.
    package init(_ error: FileError) {
        let verb = error.operation?.rawValue ?? "use"
        self.init(error.code == .noSpace ? .noSpace : .inputOutput, "can't \(verb) a file: \(error.systemMessage)")
    }
}
