public import PushCryptCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The app's text for pushes that come before the device was unlocked for the first time after it started ("Unlock your
/// phone to read messages"): shown once per boot, where every further one shows its placeholder.
public struct UnlockNotice: Sendable {
    public let text: Placeholder
    private let marker: any BootMarker

    public init(_ text: Placeholder, marker: any BootMarker) {
        self.text = text
        self.marker = marker
    }

    /// Whether this is the push to show it with; true once per boot.
    func isDue() -> Bool { marker.markThisBoot() }
}

/// Remembers that something was done since the device started.
public protocol BootMarker: Sendable {
    /// - Returns: true the first time since the device started; true also where nothing can be remembered.
    func markThisBoot() -> Bool
}

/// A file that names the boot in which it was written. It must be readable before the first unlock: nothing secret is in it.
public struct FileBootMarker: BootMarker {
    private let path: String
    private let boot: @Sendable () -> String?

    /// - Parameter path: in the app group's folder.
    public init(path: String) {
        self.init(path: path, boot: { BootSession.name })
    }

    /// - Parameter boot: names this boot; nil where the system doesn't tell.
    init(path: String, boot: @escaping @Sendable () -> String?) {
        self.path = path
        self.boot = boot
    }

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
