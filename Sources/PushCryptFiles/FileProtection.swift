#if os(iOS) || os(macOS) || os(watchOS) || os(tvOS) || os(visionOS)
import Foundation
#endif

/// The data protection of files on Apple's systems. Other systems protect files by their mode only.
package enum FileProtection {
    #if DEBUG
    /// Called with each path that is protected, on every system, for tests.
    @TaskLocal package static var observer: (@Sendable (String) -> Void)?
    #endif

    /// Makes the file readable from the first unlock after a boot on, because pushes also arrive at a locked device, and
    /// excludes it from backups: a key restored to another device would open pushes there.
    ///
    /// - Parameter path: of a file or folder; files that are made in the folder later get the same class.
    /// - Throws: `FileError` with `inputOutput`.
    static func apply(toPath path: String) throws(FileError) {
        #if DEBUG
        observer?(path)
        #endif
        #if os(iOS) || os(macOS) || os(watchOS) || os(tvOS) || os(visionOS)
        do {
            // macOS has no such classes; it encrypts the whole disk.
            #if !os(macOS) && !targetEnvironment(macCatalyst)
            try FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: path)
            #endif
            var url = URL(fileURLWithPath: path)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try url.setResourceValues(values)
        } catch {
            throw FileError(.inputOutput, path, "\(path) can't be protected: \(error.localizedDescription)")
        }
        #endif
    }
}
