import PushCryptCore
import PushCryptPrimitives

/// A fresh key of a suite, both halves.
struct TestKeys {
    let recipient: Recipient
    let recipientKey: RecipientKey
    let keyring: Keyset
    let record: KeyRecord

    /// - Parameter suite: 1, 2 or 4.
    init(suite: Suite, psk: Bool = false) throws {
        let group: DHGroup = suite == .x25519 ? .x25519 : .p256
        let kind: KeyKind = suite == .shared ? .shared : .recipient
        try self.init(try KeyRecord.generate(kind, group: group, psk: psk, backend: DefaultBackend.shared))
    }

    init(_ record: KeyRecord) throws {
        self.record = record
        let lifecycle = KeyLifecycle(createdAt: UnixTime(0), activatesAt: UnixTime(0))
        recipient = try Recipient(Keyset.Entry(record.publicRecord(keepingPSK: true), lifecycle))
        let entry = Keyset.Entry(record, lifecycle)
        recipientKey = try RecipientKey(entry)
        keyring = try Keyset([entry])
    }

    /// The private scalar, or the shared secret: 32 bytes.
    func secret() throws -> [UInt8] {
        switch record.material {
        case .recipient(_, let key?, _): Self.array(try key.serialized)
        case .shared(let secret, _): Self.array(secret)
        default: []
        }
    }

    private static func array(_ secret: SecretBytes) -> [UInt8] {
        (0..<secret.count).map { secret.bytes[$0] }
    }
}
