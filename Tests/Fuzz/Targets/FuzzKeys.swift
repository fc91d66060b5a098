import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives

/// The test keys of Conformance/vectors/pushcrypt-v1.json. Each recipient has a key and, as the record of its sender, the public
/// half.
struct FuzzKeys: RecipientKeyring {
    struct Channel: Sendable {
        let recipient: Recipient
        let key: RecipientKey
        let record: KeyRecord
    }

    let channels: [Channel]
    let signer: SenderKey
    let senderRecord: KeyRecord
    let trusted: TrustedSenders
    let topic: Topic

    static let now = UnixTime(1_800_000_000)

    static let shared: FuzzKeys = {
        do {
            return try FuzzKeys()
        } catch {
            preconditionFailure("pushcrypt-v1.json: \(error)")
        }
    }()

    private init() throws {
        let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = project.appendingPathComponent("Conformance/vectors/pushcrypt-v1.json")
        let root = try JSONText(Array(Data(contentsOf: file))).root
        func record(_ name: String) throws -> KeyRecord {
            let jwk = try require(root["keys"]?[name], "the vectors have the key \(name)")
            return try KeyRecord(jwk, backend: DefaultBackend.shared)
        }
        func entry(_ record: KeyRecord) -> Keyset.Entry { .init(record, KeyLifecycle(activatesAt: UnixTime(0))) }
        channels = try ["p256", "p256 psk", "x25519", "x25519 psk", "shared", "device"].map { name in
            let record = try record(name)
            return Channel(
                recipient: try Recipient(entry(record.publicRecord(keepingPSK: true))),
                key: try RecipientKey(entry(record)), record: record)
        }
        let sender = try record("sender")
        senderRecord = sender
        signer = try SenderKey(entry(sender))
        trusted = try TrustedSenders(Keyset([entry(sender.publicRecord(keepingPSK: false))]))
        topic = try Topic(try require(root["topic"]?.string, "the vectors have a topic"))
    }

    func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        // The shared key and its device's key have the same id; the first is used.
        guard let channel = channels.first(where: { $0.key.kid == id }) else { throw .unknownKey }
        return channel.key
    }

    /// A keyring with one key.
    struct One: RecipientKeyring {
        let key: RecipientKey

        func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
            guard id == key.kid else { throw .unknownKey }
            return key
        }
    }

    func opener(_ keyring: any RecipientKeyring, isSigned: Bool, topic: String? = nil) throws -> Opener {
        try Opener(
            topic: topic ?? self.topic.description, keyring: keyring,
            senders: isSigned ? .pinned(trusted) : .unsigned)
    }
}
