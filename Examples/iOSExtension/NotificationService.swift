import PushCryptApple

/// The complete extension. `NSExtensionPrincipalClass` in Info.plist names this class.
final class NotificationService: PushCryptNotificationService {
    override func configure() throws -> ExtensionConfiguration {
        let group = try AppGroup("group.com.example.app")
        let store = SharedStore(folder: group.path(of: "pushes"), role: .extension)

        // The app's bundle identifier, the keys that the app made and registered, the backend's keys that it pinned, and
        // the text for a push that can't be restored, which is a key of the app's strings.
        var configuration = try ExtensionConfiguration(
            topic: "com.example.app",
            keyring: KeychainKeyring(accessGroup: "ABCDE12345.com.example.shared", usesSecureEnclave: false),
            senders: .pinned(SenderPins(folder: group.path(of: "senders"))),
            fallback: .bundled(.localized(title: "NEW_MESSAGE", body: nil)))

        // The text for pushes before the device's first unlock.
        configuration.unlockNotice = UnlockNotice(
            .localized(title: "NEW_MESSAGE", body: "UNLOCK_TO_READ"),
            marker: FileBootMarker(path: group.path(of: "boot")))

        // Shows each push once, counts its outcome, and fetches its attachments.
        configuration.replayGuard = store
        configuration.diagnostics = store
        configuration.attachments = AttachmentStage(
            configuration: .init(folder: group.path(of: "attachments")), transport: URLSessionTransport())
        return configuration
    }
}
