import PushCryptExtension
import Testing

/// Failures that are caused by keys.
@Suite struct OpenerKeyTests {
    /// Throws the same failure for every key.
    private struct BrokenKeyring: RecipientKeyring {
        let failure: FailureClass

        func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey { throw failure }
    }

    private static func open(
        _ payload: [UInt8], _ keyset: Keyset, _ senders: SenderTrust = .unsigned, at time: UnixTime = TestPush.now
    ) throws -> Result<OpenedPush, FailureClass> {
        try Opener(topic: TestPush.topic, keyring: KeysetKeyring(keyset), senders: senders).open(payload, at: time)
    }

    @Test("a payload for another key is unknownKey", arguments: ["other p256", "x25519", "shared"])
    func unknownRecipient(key: String) throws {
        let payload = try TestPush().sealed()
        try expectFailure(.unknownKey) { try TestPush.open(payload, key: key) }
    }

    @Test("a keyset without the private half is unknownKey")
    func publicKeyOnly() throws {
        let keyset = try Keyset(json: ReferenceVectors.shared.publicJWK("p256"))
        let payload = try TestPush().sealed()
        try expectFailure(.unknownKey) { try Self.open(payload, keyset) }
    }

    @Test("a payload signed by a key that isn't pinned is unknownKey")
    func unknownSender() throws {
        let payload = try TestPush(signer: "sender").sealed()
        try expectFailure(.unknownKey) { try TestPush.open(payload, trusting: ["other sender"]) }
    }

    @Test("a signed payload is unknownKey if no sender is pinned")
    func signedWithoutPinnedSenders() throws {
        let payload = try TestPush(signer: "sender").sealed()
        try expectFailure(.unknownKey) { try TestPush.open(payload) }
    }

    @Test(
        "a failure of the keyring is the failure of the push",
        arguments: [FailureClass.keyLocked, .keyExpired, .keyRevoked, .unknownKey, .internalError])
    func whatTheKeyringSays(failure: FailureClass) throws {
        let opener = try Opener(topic: TestPush.topic, keyring: BrokenKeyring(failure: failure), senders: .unsigned)
        let payload = try TestPush().sealed()
        try expectFailure(failure) { opener.open(payload, at: TestPush.now) }
    }

    @Test("the keyring is not asked for a payload that isn't sealed or is malformed")
    func formBeforeKeys() throws {
        let opener = try Opener(topic: TestPush.topic, keyring: BrokenKeyring(failure: .keyLocked), senders: .unsigned)
        try expectFailure(.notSealed) { opener.open(Array("{}".utf8), at: TestPush.now) }
        try expectFailure(.malformed) { opener.open(Array("{".utf8), at: TestPush.now) }
    }

    private static let lifecycles: [(KeyLifecycle, FailureClass?)] = [
        (KeyLifecycle(activatesAt: TestPush.now + 5), nil), (KeyLifecycle(), nil),
        (KeyLifecycle(activatesAt: UnixTime(0), retiresAt: TestPush.now - 9), nil),
        (KeyLifecycle(activatesAt: UnixTime(0), expiresAt: TestPush.now + 1), nil),
        (KeyLifecycle(activatesAt: UnixTime(0), expiresAt: TestPush.now), .keyExpired),
        (KeyLifecycle(activatesAt: UnixTime(0), revokedAt: TestPush.now + 1), nil),
        (KeyLifecycle(activatesAt: UnixTime(0), revokedAt: TestPush.now), .keyRevoked),
        (KeyLifecycle(expiresAt: UnixTime(9), revokedAt: UnixTime(8)), .keyRevoked),
    ]

    @Test("a recipient's key opens according to its lifecycle", arguments: lifecycles)
    func recipientLifecycle(lifecycle: KeyLifecycle, failure: FailureClass?) throws {
        let payload = try TestPush().sealed()
        let result = try Self.open(payload, TestKeys.keyset("p256", lifecycle))
        #expect(result.failure == failure)
    }

    /// A recipient's key with a future revocation still opens. A sender's revoked key never verifies, at any time of the
    /// device's clock.
    @Test("a sender's key verifies according to its lifecycle, and a revoked one never verifies", arguments: lifecycles)
    func senderLifecycle(lifecycle: KeyLifecycle, failure: FailureClass?) throws {
        let payload = try TestPush(signer: "sender").sealed()
        let senders = try TestKeys.trusted(["sender"], lifecycle)
        let result = try Self.open(payload, TestKeys.keyset("p256"), .pinned(senders))
        #expect(result.failure == (lifecycle.revokedAt == nil ? failure : .keyRevoked))
    }

    @Test("the recipient's key is checked before the sender's key and before a missing signature")
    func order() throws {
        let revoked = KeyLifecycle(revokedAt: UnixTime(0))
        let payload = try TestPush(signer: "sender").sealed()
        let senders = try TestKeys.trusted(["other sender"])
        try expectFailure(.keyRevoked) { try Self.open(payload, TestKeys.keyset("p256", revoked), .pinned(senders)) }
        let unsigned = try TestPush().sealed()
        try expectFailure(.keyRevoked) { try Self.open(unsigned, TestKeys.keyset("p256", revoked), .pinned(senders)) }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
