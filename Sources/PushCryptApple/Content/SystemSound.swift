#if canImport(UserNotifications) && !os(tvOS)
import PushCryptExtension
import UserNotifications

extension NotificationContent.Sound {
    var systemSound: UNNotificationSound {
        let volume = volume.map { Float(min(max($0, 0), 1)) }
        #if !os(watchOS)
        if name != "default" {
            let name = UNNotificationSoundName(rawValue: name)
            guard isCritical else { return UNNotificationSound(named: name) }
            guard let volume else { return .criticalSoundNamed(name) }
            return .criticalSoundNamed(name, withAudioVolume: volume)
        }
        #endif
        guard isCritical else { return .default }
        return volume.map { .defaultCriticalSound(withAudioVolume: $0) } ?? .defaultCritical
    }

    init(_ system: UNNotificationSound) {
        self.init(name: "default", isCritical: system == .defaultCritical)
    }
}
#endif
