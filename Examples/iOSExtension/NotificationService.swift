import PushCryptApple

/// The complete extension. `NSExtensionPrincipalClass` in Info.plist names this class.
final class NotificationService: PushCryptNotificationService {
    override func configure() throws -> ExtensionConfiguration {
        // Senders: the keys in the last set that the app accepted, which a publisher in the app's sender-pins.json signed.
        // Fallback: a key of the app's strings, shown when a push can't be restored.
        let group = try AppGroup("group.com.example.app")
        var configuration = try ExtensionConfiguration(
            group, senders: .pinned(group.senderPins()), fallback: .bundled(.localized(title: "NEW_MESSAGE", body: nil))
        )
        configuration.unlockNotice = group.unlockNotice(.localized(title: "NEW_MESSAGE", body: "UNLOCK_TO_READ"))
        return configuration
    }
}
