import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// `Recipient(jwk:)` and `SenderKey(jwk:)` have no time: they accept a single key without an end.
@Suite struct SingleKeyTests {
    static let endings: [KeyLifecycle] = [
        KeyLifecycle(activatesAt: UnixTime(0), retiresAt: UnixTime(9)),
        KeyLifecycle(activatesAt: UnixTime(0), expiresAt: UnixTime(9)),
        KeyLifecycle(activatesAt: UnixTime(0), revokedAt: UnixTime(9)),
    ]

    @Test("a single key with an end is refused as a recipient or sender key", arguments: endings)
    func endingKeyIsRefused(_ lifecycle: KeyLifecycle) throws {
        let recipient = try json([.recipient], lifecycle)
        #expect(throws: KeyError.self) { try Recipient(jwk: recipient) }
        let sender = try json([.sender], lifecycle, keepsPrivate: true)
        #expect(throws: KeyError.self) { try SenderKey(jwk: sender) }
    }

    @Test("a single key without an end makes a recipient or sender key")
    func endlessKeyIsTaken() throws {
        let lifecycle = KeyLifecycle(activatesAt: UnixTime(0))
        #expect(throws: Never.self) { try Recipient(jwk: json([.recipient], lifecycle)) }
        #expect(throws: Never.self) { try SenderKey(jwk: json([.sender], lifecycle, keepsPrivate: true)) }
    }

    @Test("several keys are refused as a recipient")
    func severalKeysAreRefused() throws {
        let two = try json([.recipient, .recipient], KeyLifecycle(activatesAt: UnixTime(0)))
        let error = #expect(throws: KeyError.self) { try Recipient(jwk: two) }
        #expect(error?.code == .malformed)
    }

    private func json(_ kinds: [KeyKind], _ lifecycle: KeyLifecycle, keepsPrivate: Bool = false) throws -> [UInt8] {
        let entries = try kinds.map { kind in
            Keyset.Entry(try KeyRecord.generate(kind, backend: DefaultBackend.shared), lifecycle)
        }
        let keyset = try Keyset(entries, sequence: 1)
        return try (keepsPrivate ? keyset : keyset.publicKeyset(keepingPSK: true)).jwkSet(withHistory: false)
    }
}
