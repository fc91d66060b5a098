import PushCryptApple

/// The sample's extension, which its Info.plist names: a message is shown with its sender.
final class MessageService: NotificationService {
    override func configure() throws -> ExtensionConfiguration {
        var configuration = try super.configure()
        configuration.finish = chatMessages { _ in nil }
        return configuration
    }
}
