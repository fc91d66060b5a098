import PushCryptApple

/// The complete extension. `NSExtensionPrincipalClass` in Info.plist names this class.
final class NotificationService: PushCryptNotificationService {
    override func configure() throws -> ExtensionConfiguration {
        let group = try AppGroup("group.com.example.app")
        let store = SharedStore(folder: group.path(of: "pushes"), role: .extension)

        // The sender keys of the last set that the app accepted. A publisher in the app's sender-pins.json signed it.
        let senders = try SenderPins(
            folder: group.path(of: "senders"), publishers: SenderSetPins(resource: "sender-pins"),
            topic: "com.example.app")

        // The topic is the app's bundle identifier. The keyring has the keys that the app created and registered. The
        // fallback, a key of the app's strings, is shown when a push can't be restored.
        var configuration = try ExtensionConfiguration(
            topic: "com.example.app",
            keyring: KeychainKeyring(accessGroup: "ABCDE12345.com.example.shared", usesSecureEnclave: false),
            senders: .pinned(senders),
            fallback: .bundled(.localized(title: "NEW_MESSAGE", body: nil)))

        // Text to show before the device's first unlock.
        configuration.unlockNotice = UnlockNotice(
            .localized(title: "NEW_MESSAGE", body: "UNLOCK_TO_READ"),
            marker: FileBootMarker(path: group.path(of: "boot")))

        // Shows each push once, counts results, and fetches pictures.
        configuration.store = store
        configuration.attachments = AttachmentStage(
            configuration: .init(folder: group.path(of: "attachments")), transport: URLSessionTransport())
        return configuration
    }
}
