import PushCryptExtension
import Testing

/// Vectors of the Python reference, and how an opener uses keys, senders and the clock. `TamperingTests` and
/// `ConfusionTests` of `PushCryptPropertyTests` change the bytes and the keys of payloads.
@Suite struct OpenerTests {
    private static func open(
        _ payload: [UInt8], _ keyset: Keyset, _ senders: SenderTrust = .unsigned, at time: UnixTime = TestPush.now
    ) throws -> Result<OpenedPush, FailureClass> {
        try Opener(topic: TestPush.topic, keyring: KeysetKeyring(keyset), senders: senders).open(payload, at: time)
    }

    @Test("each positive vector opens with its payload, id and times", arguments: ReferenceVectors.shared.opened)
    func opened(vector: ReferenceVectors.Vector) throws {
        let push = try TestPush.open(
            Array(vector.payload.utf8), key: vector.key, trusting: vector.trust, at: UnixTime(vector.at)
        ).get()
        #expect(push.payload.text == ReferenceVectors.shared.inner)
        #expect(push.messageID == vector.id)
        #expect(push.issuedAt.seconds == vector.iat)
        #expect(push.expiresAt.seconds == vector.exp)
        #expect(push.signedBy == (try vector.trust.map { try TestKeys.id($0[0]) }))
    }

    @Test("each negative vector is refused with its failure class", arguments: ReferenceVectors.shared.refused)
    func refused(vector: ReferenceVectors.Vector) throws {
        let result = try TestPush.open(
            Array(vector.payload.utf8), key: vector.key, trusting: vector.trust, topic: #require(vector.topic),
            at: UnixTime(vector.at))
        #expect(result.failure?.rawValue == vector.failure && result.failure != nil)
    }

    @Test("a keyset without the private half is unknownKey")
    func publicKeyOnly() throws {
        let keyset = try Keyset(json: ReferenceVectors.shared.publicJWK("p256"))
        #expect(try Self.open(TestPush().sealed(), keyset).failure == .unknownKey)
    }

    @Test(
        "a failure of the keyring is the failure of the push, and it isn't asked for a payload without a valid envelope",
        arguments: [FailureClass.keyLocked, .keyExpired, .keyRevoked, .unknownKey, .internalError])
    func whatTheKeyringSays(failure: FailureClass) throws {
        let opener = try Opener(topic: TestPush.topic, keyring: FailingKeyring(failure: failure), senders: .unsigned)
        #expect(try opener.open(try TestPush().sealed(), at: TestPush.now).failure == failure)
        #expect(try opener.open(Array("{}".utf8), at: TestPush.now).failure == .notSealed)
        #expect(try opener.open(Array("{".utf8), at: TestPush.now).failure == .malformed)
    }

    private static let lifecycles: [(KeyLifecycle, FailureClass?)] = [
        (KeyLifecycle(activatesAt: TestPush.now + 5), nil), (KeyLifecycle(), nil),
        (KeyLifecycle(activatesAt: UnixTime(0), retiresAt: TestPush.now - 9), nil),
        (KeyLifecycle(activatesAt: UnixTime(0), expiresAt: TestPush.now + 1), nil),
        (KeyLifecycle(activatesAt: UnixTime(0), expiresAt: TestPush.now), .keyExpired),
        (.revoked(at: TestPush.now + 1), nil), (.revoked(at: TestPush.now), .keyRevoked),
        (KeyLifecycle(expiresAt: UnixTime(9), revokedAt: UnixTime(8)), .keyRevoked),
    ]

    /// A recipient's key with a future revocation still opens. A sender's revoked key never verifies, at any time of the
    /// device's clock.
    @Test("a key is used according to its lifecycle, and a revoked sender's never", arguments: lifecycles)
    func lifecycle(lifecycle: KeyLifecycle, failure: FailureClass?) throws {
        let recipient = try Self.open(TestPush().sealed(), TestKeys.keyset("p256", lifecycle))
        #expect(recipient.failure == failure)
        let senders = try TestKeys.trusted(["sender"], lifecycle)
        let sender = try Self.open(TestPush(signer: "sender").sealed(), TestKeys.keyset("p256"), .pinned(senders))
        #expect(sender.failure == (lifecycle.revokedAt == nil ? failure : .keyRevoked))
    }

    @Test("the recipient's key is checked before the sender's and a missing signature", arguments: ["sender", nil])
    func order(signer: String?) throws {
        let keyset = try TestKeys.keyset("p256", KeyLifecycle(revokedAt: UnixTime(0)))
        let senders = try TestKeys.trusted(["other sender"])
        #expect(try Self.open(TestPush(signer: signer).sealed(), keyset, .pinned(senders)).failure == .keyRevoked)
    }

    @Test("if the clock is behind the highest accepted iat, that iat less ten minutes counts as the time")
    func highestIssuedAt() throws {
        let sealed = try TestPush(options: .init(expiresAfter: .seconds(60))).sealed()
        let highest = TestPush.now + 60 + 600
        _ = try TestPush.open(sealed, highestIssuedAt: highest - 1).get()
        #expect(try TestPush.open(sealed, highestIssuedAt: highest).failure == .expired)
        // With a clock that is behind, a push that isn't newer than the highest iat is not refused.
        #expect(try TestPush.open(sealed, at: TestPush.now - 601).failure == .notYetValid)
        _ = try TestPush.open(sealed, at: TestPush.now - 601, highestIssuedAt: TestPush.now).get()
        _ = try TestPush.open(sealed, highestIssuedAt: UnixTime(0)).get()
    }

    @Test("an opener with an invalid topic throws invalidTopic")
    func invalidTopic() throws {
        let keyring = try KeysetKeyring(TestKeys.keyset("p256"))
        expectKeyError(.invalidTopic) {
            try Opener(topic: "com.example.app/extension", keyring: keyring, senders: .unsigned)
        }
    }
}
