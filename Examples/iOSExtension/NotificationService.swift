import PushCryptApple

/// The extension, whole. `NSExtensionPrincipalClass` in Info.plist names it.
final class NotificationService: PushCryptNotificationService {
    override func configure() throws -> ExtensionConfiguration {
        let group = try AppGroup("group.com.example.app")
        let store = SharedStore(folder: group.path(of: "pushes"), role: .extension)

        // What is shown when a push can't be restored, and before the first unlock: keys of the app's strings.
        var session = DeliverySession.Configuration(fallback: .bundled(.localized(title: "NEW_MESSAGE", body: nil)))
        session.unlockNotice = UnlockNotice(
            .localized(title: "NEW_MESSAGE", body: "UNLOCK_TO_READ"),
            marker: FileBootMarker(path: group.path(of: "boot")))

        // Shows a push once, counts what became of it, fetches its pictures.
        session.replayGuard = store
        session.diagnostics = store
        session.attachments = AttachmentStage(
            configuration: .init(folder: group.path(of: "attachments")), transport: URLSessionTransport())

        // The app's bundle identifier; the keys that the app made and registered; the backend's keys that it pinned.
        return try ExtensionConfiguration(
            topic: "com.example.app",
            keyring: KeychainKeyring(accessGroup: "ABCDE12345.com.example.shared", usesSecureEnclave: false),
            senders: .pinned(SenderPins(folder: group.path(of: "senders"))), session: session)
    }
}
