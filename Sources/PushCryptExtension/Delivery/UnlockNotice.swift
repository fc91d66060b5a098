public import PushCryptCore
import PushCryptFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The app's text for pushes before the first unlock after a boot ("Unlock your phone to read messages"). It is shown once
/// per boot; later pushes show their placeholder.
public struct UnlockNotice: Sendable {
    /// The text shown in place of the first such push.
    public let text: Placeholder
    private let marker: any BootMarker

    /// Creates a notice. The marker, usually a ``FileBootMarker``, remembers that the text was shown.
    public init(_ text: Placeholder, marker: any BootMarker) {
        self.text = text
        self.marker = marker
    }

    /// Whether to show the notice now; true once per boot.
    func isDue() -> Bool { marker.markThisBoot() }
}

/// Remembers one event per boot.
public protocol BootMarker: Sendable {
    /// Returns true at the first call since the device's start, and at every call if nothing can be remembered.
    func markThisBoot() -> Bool
}

/// A file that contains the name of a boot session. It is readable before the first unlock and contains no secret.
public struct FileBootMarker: BootMarker {
    private let path: String
    /// The name of this boot session; nil if the system has none. Tests replace it.
    var boot: @Sendable () -> String? = { BootSession.name }

    /// Creates a marker in a file of the app group's folder.
    public init(path: String) { self.path = path }

    /// Writes the name of the boot session to the file; returns false if the file already contains it.
    public func markThisBoot() -> Bool {
        guard let boot = boot() else { return true }
        let url = URL(fileURLWithPath: path)
        guard (try? Data(contentsOf: url)) != Data(boot.utf8) else { return false }
        #if canImport(Darwin) && !os(macOS)
        let options: Data.WritingOptions = [.atomic, .noFileProtection]
        #else
        let options: Data.WritingOptions = .atomic
        #endif
        try? Data(boot.utf8).write(to: url, options: options)
        return true
    }
}
