import PushCryptApple

/// The complete extension. `NSExtensionPrincipalClass` in Info.plist names this class.
final class NotificationService: PushCryptNotificationService {
    override func configure() throws -> ExtensionConfiguration {
        let group = try appGroup()
        // A key of the app's strings. It is shown when a push can't be restored.
        let text = Placeholder.localized(title: "NEW_MESSAGE", body: nil)
        var configuration = try ExtensionConfiguration(
            group, senders: .pinned(group.senderPins()), fallback: .bundled(text))
        configuration.unlockNotice = group.unlockNotice(.localized(title: "NEW_MESSAGE", body: "UNLOCK_TO_READ"))
        return configuration
    }
}
