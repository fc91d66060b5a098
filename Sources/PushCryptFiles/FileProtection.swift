#if os(iOS) || os(macOS) || os(watchOS) || os(tvOS) || os(visionOS)
import Foundation

/// What Apple's systems do for a file beside its mode.
package enum FileProtection {
    /// Encrypted until the first unlock after a boot, and readable from then on: pushes come to a locked device, too. Not
    /// in backups: a key that is restored to another device would open there.
    ///
    /// - Parameter path: of a file or folder; what is made in the folder later has the same class.
    /// - Throws: `FileError` with `inputOutput`.
    static func apply(toPath path: String) throws(FileError) {
        do {
            // A Mac's files have no such classes; its disk is encrypted as a whole.
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
    }
}
#else
/// Other systems have only the mode.
package enum FileProtection {
    static func apply(toPath path: String) throws(FileError) {}
}
#endif
