public import Foundation

@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// A sound. Like Apple's class it has no readable properties; it can only be compared.
@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
open class UNNotificationSound: NSObject {
    private let name: UNNotificationSoundName?
    private let isCritical: Bool
    private let volume: Float?

    private init(name: UNNotificationSoundName?, isCritical: Bool, volume: Float?) {
        self.name = name
        self.isCritical = isCritical
        self.volume = volume
    }

    open class var `default`: UNNotificationSound {
        UNNotificationSound(name: nil, isCritical: false, volume: nil)
    }

    @available(iOS 12, macOS 10.14, watchOS 5, visionOS 1, *)
    open class var defaultCritical: UNNotificationSound {
        UNNotificationSound(name: nil, isCritical: true, volume: nil)
    }

    @available(iOS 12, macOS 10.14, watchOS 5, visionOS 1, *)
    public static func defaultCriticalSound(withAudioVolume volume: Float) -> UNNotificationSound {
        UNNotificationSound(name: nil, isCritical: true, volume: volume)
    }

    @available(watchOS, unavailable)
    public convenience init(named name: UNNotificationSoundName) {
        self.init(name: name, isCritical: false, volume: nil)
    }

    @available(iOS 12, macOS 10.14, visionOS 1, *)
    @available(watchOS, unavailable)
    public static func criticalSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
        UNNotificationSound(name: name, isCritical: true, volume: nil)
    }

    @available(iOS 12, macOS 10.14, visionOS 1, *)
    @available(watchOS, unavailable)
    public static func criticalSoundNamed(
        _ name: UNNotificationSoundName, withAudioVolume volume: Float
    ) -> UNNotificationSound {
        UNNotificationSound(name: name, isCritical: true, volume: volume)
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationSound else { return false }
        return (name, isCritical ? 1 : 0, volume) == (other.name, other.isCritical ? 1 : 0, other.volume)
    }

    open override var hash: Int { name.hashValue }
}
