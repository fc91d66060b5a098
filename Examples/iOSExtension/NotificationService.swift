import PushCryptApple

/// The extension, whole. `NSExtensionPrincipalClass` in Info.plist names it.
final class NotificationService: PushCryptNotificationService {
    override func configure() throws -> ExtensionConfiguration {
        let group = try AppGroup("group.com.example.app")
        let store = SharedStore(folder: group.path(of: "pushes"), role: .extension)

        // The app's bundle identifier; the keys that the app made and registered; the backend's keys that it pinned; and
        // the text that is shown when a push can't be restored, a key of the app's strings.
        var configuration = try ExtensionConfiguration(
            topic: "com.example.app",
            keyring: KeychainKeyring(accessGroup: "ABCDE12345.com.example.shared", usesSecureEnclave: false),
            senders: .pinned(SenderPins(folder: group.path(of: "senders"))),
            fallback: .bundled(.localized(title: "NEW_MESSAGE", body: nil)))

        // The text that is shown before the device's first unlock.
        configuration.unlockNotice = UnlockNotice(
            .localized(title: "NEW_MESSAGE", body: "UNLOCK_TO_READ"),
            marker: FileBootMarker(path: group.path(of: "boot")))

        // Shows a push once, counts what became of it, fetches its pictures.
        configuration.replayGuard = store
        configuration.diagnostics = store
        configuration.attachments = AttachmentStage(
            configuration: .init(folder: group.path(of: "attachments")), transport: URLSessionTransport())
        return configuration
    }
}
