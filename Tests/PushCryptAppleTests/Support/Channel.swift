import Foundation
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import UserNotifications

@testable import PushCryptApple

/// A backend that seals and a device that opens with the same key.
struct Channel: Sendable {
    enum Key: CaseIterable, Sendable {
        case p256, x25519, shared
    }

    static let topic = "com.example.app"
    static let fallback = Fallback.outerAlert(orElse: .standard)
    static let now = UnixTime(1_800_000_000)

    let record: KeyRecord
    let signer: KeyRecord?

    init(_ key: Key = .p256, signed: Bool = false) throws {
        let backend = DefaultBackend.shared
        record =
            switch key {
            case .p256: try .generate(.recipient, type: .p256, psk: true, backend: backend)
            case .x25519: try .generate(.recipient, type: .x25519, psk: true, backend: backend)
            case .shared: try .generate(.shared, backend: backend)
            }
        signer = signed ? try .generate(.sender, backend: backend) : nil
    }

    init(record: KeyRecord, signer: KeyRecord?) { (self.record, self.signer) = (record, signer) }

    func seal(
        _ json: String, exposed: [String] = [], badgeIncrement: Int? = nil, attachments: [AttachmentReference] = [],
        offload: OffloadReference? = nil
    ) throws -> [UInt8] {
        let recipient = try Recipient(Keyset.Entry(record.publicRecord(keepingPSK: true), KeyLifecycle()))
        let sender = try signer.map { try SenderKey(Keyset.Entry($0, KeyLifecycle())) }
        let sealer = try Sealer(
            topic: Self.topic, signer: sender.map(Signer.key),
            options: Sealer.Options(exposed: exposed, badgeIncrement: badgeIncrement), clock: { Self.now })
        let push = try sealer.seal(
            Array(json.utf8), to: recipient, placeholder: .literal(title: "New message", body: nil),
            attachments: attachments, offload: offload)
        return Array(push.json)
    }

    var opener: Opener {
        get throws { try Opener(topic: Self.topic, keyring: keyring, senders: senders) }
    }

    var keyring: KeysetKeyring {
        get throws { KeysetKeyring(try Keyset([Keyset.Entry(record, KeyLifecycle())])) }
    }

    var senders: SenderTrust {
        get throws { try trustedSenders.map { .pinned($0) } ?? .unsigned }
    }

    var trustedSenders: TrustedSenders? {
        get throws {
            try signer.map { signer in
                let lifecycle = KeyLifecycle(activatesAt: UnixTime(0))
                return try TrustedSenders(Keyset([Keyset.Entry(signer.publicRecord(keepingPSK: false), lifecycle)]))
            }
        }
    }

    func configuration(
        timer: any DeadlineTimer = ManualTimer(), _ change: (inout ExtensionConfiguration) -> Void = { _ in }
    ) throws -> ExtensionConfiguration {
        var configuration = try ExtensionConfiguration(
            topic: Self.topic, keyring: keyring, senders: senders, fallback: Self.fallback)
        configuration.clock = { Self.now }
        configuration.timer = timer
        change(&configuration)
        return configuration
    }

    /// The request with which the system passes the payload to an extension.
    static func request(_ payload: [UInt8]) throws -> UNNotificationRequest {
        let object = try JSONSerialization.jsonObject(with: Data(payload))
        let content = UNMutableNotificationContent()
        content.userInfo = object as? [String: Any] ?? [:]
        content.title = "New message"
        return UNNotificationRequest(identifier: "1", content: content, trigger: nil)
    }
}
