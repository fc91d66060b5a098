import PushCryptApple

/// The complete extension: `NSExtensionPrincipalClass` in the Info.plist of a new extension names this class.
class NotificationService: PushCryptNotificationService {
    override func configure() throws -> ExtensionConfiguration { try sharedConfiguration(appGroup()) }
}
