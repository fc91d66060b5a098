import Logging
import PushCryptSender

/// A backend whose signing keys are rotated while it runs: make one and keep it.
struct RotatingPusher {
    let sealer: Sealer
    let signingKeys: KeysetWatcher

    /// - Parameter file: a keyset of sender keys, such as `Keys/backend.keyset`.
    init(file: String, passphraseFile: String) throws {
        signingKeys = try KeysetWatcher(
            file: file, secret: .passphraseFile(passphraseFile), logger: Logger(label: "pushes"))
        sealer = try Sealer(topic: "com.example.app", signer: .watching(signingKeys))
    }

    func seal(_ notification: PushNotification, to recipient: Recipient) throws -> SealedPush {
        try sealer.seal(notification, to: recipient)
    }
}
