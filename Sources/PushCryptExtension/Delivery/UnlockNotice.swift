public import PushCryptCore
import PushCryptPrimitives

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The app's text for pushes that come before the device's first unlock after a start ("Unlock your phone to read
/// messages"). It is shown once per boot; later pushes show their placeholder.
public struct UnlockNotice: Sendable {
    /// Shown in place of the first such push.
    public let text: Placeholder
    private let marker: any BootMarker

    /// - Parameters:
    ///   - text: shown in place of the first such push.
    ///   - marker: remembers that it was shown, usually a ``FileBootMarker``.
    public init(_ text: Placeholder, marker: any BootMarker) {
        self.text = text
        self.marker = marker
    }

    /// Whether this is the push to show it with; true once per boot.
    func isDue() -> Bool { marker.markThisBoot() }
}

/// Remembers that something was done since the device started.
public protocol BootMarker: Sendable {
    /// - Returns: true the first time since the device started; also true if nothing can be remembered.
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

    /// Writes the name of the boot session to the file, unless it is there already.
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

/// The time since the device was started, a boot session.
enum BootSession {
    /// A name that changes with every start of the device; nil if the system has none.
    static var name: String? {
        #if canImport(Darwin)
        var size = 0
        guard unsafe sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        guard unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #elseif os(Linux)
        let path = URL(fileURLWithPath: "/proc/sys/kernel/random/boot_id")
        return (try? Data(contentsOf: path)).map { String(decoding: $0, as: UTF8.self) }
        #else
        return nil
        #endif
    }

    /// How long ago the device was started, sleep included. Nobody can set this clock.
    static var ageInSeconds: Int64 {
        var age = timespec()
        #if canImport(Darwin)
        unsafe clock_gettime(CLOCK_MONOTONIC_RAW, &age)
        #else
        unsafe clock_gettime(CLOCK_BOOTTIME, &age)
        #endif
        return Int64(age.tv_sec)
    }
}
