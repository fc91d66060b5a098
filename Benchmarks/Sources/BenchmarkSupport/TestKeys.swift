package import PushCryptCore
import PushCryptPrimitives

/// A fresh key of a suite, public and private, for tests only.
package struct TestKeys {
    package let recipient: Recipient
    package let recipientKey: RecipientKey
    package let keyset: Keyset
    package let record: KeyRecord

    package init(suite: Suite, psk: Bool = false) throws {
        let type = suite.keyPairType ?? .p256
        let kind: KeyKind = suite == .shared ? .shared : .recipient
        try self.init(try KeyRecord.generate(kind, type: type, psk: psk, backend: DefaultBackend.shared))
    }

    package init(_ record: KeyRecord) throws {
        self.record = record
        recipient = try Recipient(Keyset.Entry(record.publicRecord(keepingPSK: true), Self.lifecycle))
        let entry = Keyset.Entry(record, Self.lifecycle)
        recipientKey = try RecipientKey(entry)
        keyset = try Keyset([entry])
    }

    private static let lifecycle = KeyLifecycle(createdAt: UnixTime(0), activatesAt: UnixTime(0))

    /// The private scalar, or the shared secret: 32 bytes.
    package func secret() throws -> [UInt8] {
        switch record.material {
        case .recipient(_, let key?, _): Self.array(try key.serialized)
        case .shared(let secret, _): Self.array(secret)
        default: []
        }
    }

    private static func array(_ secret: SecretBytes) -> [UInt8] {
        (0..<secret.count).map { secret.bytes[$0] }
    }

    /// The record that an app uploads. For a shared key: the key itself.
    package func publicJWK() throws -> [UInt8] {
        var jwk = [UInt8]()
        try record.publicRecord(keepingPSK: true).appendJWK(to: &jwk)
        return jwk
    }
}

extension TestKeys {
    /// A published set of fresh keys, as UTF-8 JSON.
    package static func publishedKeyset(_ suite: Suite, count: Int) throws -> [UInt8] {
        let entries = try (0..<count).flatMap { _ in try TestKeys(suite: suite).keyset.entries }
        return try Keyset(entries).publicKeyset(keepingPSK: false).jwkSet(withHistory: false)
    }
}

/// A sender's private key, and the public key that a recipient pins.
package struct TestSender {
    package let key: SenderKey
    package let record: KeyRecord
    package let trusted: TrustedSenders

    package init() throws {
        record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        let entry = Keyset.Entry(record, KeyLifecycle(activatesAt: UnixTime(0)))
        key = try SenderKey(entry)
        trusted = try TrustedSenders(Keyset([entry]).publicKeyset(keepingPSK: false))
    }
}
