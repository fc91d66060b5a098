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

    /// Creates a notice.
    ///
    /// - Parameters:
    ///   - text: the text shown in place of the first such push.
    ///   - marker: remembers that the text was shown, usually a ``FileBootMarker``.
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
    private let boot: @Sendable () -> String?

    /// Creates a marker.
    ///
    /// - Parameter path: a file in the app group's folder.
    public init(path: String) { self.init(path: path, boot: { BootSession.name }) }

    /// - Parameter boot: the name of this boot session; nil if the system has none.
    init(path: String, boot: @escaping @Sendable () -> String?) {
        self.path = path
        self.boot = boot
    }

    /// Writes the name of the boot session to the file; returns false if the file already contains it.
    public func markThisBoot() -> Bool {
        guard let boot = boot() else { return true }
        let url = URL(fileURLWithPath: path)
        guard (try? Data(contentsOf: url)) != Data(boot.utf8) else { return false }
        #if canImport(Darwin) && !os(macOS)
        try? Data(boot.utf8).write(to: url, options: [.atomic, .noFileProtection])
        #else
        try? Data(boot.utf8).write(to: url, options: .atomic)
        #endif
        return true
    }
}
