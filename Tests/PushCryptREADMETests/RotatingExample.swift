import Logging
import PushCryptSender

/// A backend whose signing keys are rotated while it runs: make one and keep it.
struct RotatingPusher {
    let sealer: Sealer
    let signingKeys: KeysetWatcher

    /// - Parameter folder: a keyset of the keystore, as in `Keys/backend`.
    init(folder: String, passphraseFile: String) throws {
        signingKeys = try KeysetWatcher(
            folder: folder, secret: .passphraseFile(passphraseFile), logger: Logger(label: "pushes"))
        sealer = try Sealer(topic: "com.example.app", signer: .watching(signingKeys))
    }

    func seal(_ notification: PushNotification, to recipient: Recipient) throws -> SealedPush {
        try sealer.seal(notification, to: recipient)
    }
}
