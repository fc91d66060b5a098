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

/// A file that contains the name of a boot session, or the time of the boot if its name can't be read. It is readable before the
/// first unlock and contains no secret.
public struct FileBootMarker: BootMarker {
    /// How far two times of one boot may differ, in seconds: the clock may be corrected meanwhile. A restart takes longer.
    private static let tolerance: Int64 = 10

    private let path: String
    /// The name of this boot session; nil if it can't be read. Tests replace it.
    var name: @Sendable () -> String? = { BootSession.name }
    /// The time of the boot. Tests replace it.
    var time: @Sendable () -> Int64 = { BootSession.time }

    /// Creates a marker in a file of the app group's folder.
    public init(path: String) { self.path = path }

    /// Writes the boot session to the file; returns false if the file already contains it.
    public func markThisBoot() -> Bool {
        let boot = name() ?? String(time())
        let url = URL(fileURLWithPath: path)
        let old = (try? Data(contentsOf: url)).map { String(decoding: $0, as: UTF8.self) }
        if let old, Self.areOne(old, boot) { return false }
        #if canImport(Darwin) && !os(macOS)
        let options: Data.WritingOptions = [.atomic, .noFileProtection]
        #else
        let options: Data.WritingOptions = .atomic
        #endif
        try? Data(boot.utf8).write(to: url, options: options)
        return true
    }

    private static func areOne(_ old: String, _ new: String) -> Bool {
        guard let old = Int64(old), let new = Int64(new) else { return old == new }
        return (new - tolerance...new + tolerance).contains(old)
    }
}
