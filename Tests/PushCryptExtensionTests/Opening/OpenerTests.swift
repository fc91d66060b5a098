import PushCryptExtension
import PushCryptSender
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
        let payload = try TestPush().sealed()
        #expect(opener.open(payload, at: TestPush.now).failure == failure)
        #expect(opener.open(Array("{}".utf8), at: TestPush.now).failure == .notSealed)
        #expect(opener.open(Array("{".utf8), at: TestPush.now).failure == .malformed)
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

/// What an opened push returns of its message, its attachments and its offloaded payload. `PushCryptPropertyTests`
/// have payloads of all kinds, and retractions, quiet pushes and avatars.
@Suite struct OpenedPushTests {
    private static func attachment(id: String? = nil) throws -> AttachmentReference {
        try AttachmentReference(
            url: "https://a.b/c", blob: SealedBlob([1, 2, 3], for: .attachment).reference, type: "image/png", id: id)
    }

    private static func offloaded(_ json: String) throws -> (plaintext: [UInt8], reference: OffloadReference) {
        let blob = try Sealer.offload(Array(json.utf8))
        let plaintext = try BlobOpener.plaintext(of: blob.bytes, blob.reference)
        return (plaintext, try OffloadReference(url: "https://a.b/d", blob: blob.reference))
    }

    private static func opened(_ push: TestPush) throws -> OpenedPush {
        try TestPush.open(push.sealed(), key: push.key, trusting: push.signer.map { [$0] }).get()
    }

    @Test("an opened push returns id, times and kid of the message, and has no extras if the sender added none")
    func members() throws {
        let sealed = try TestPush(options: .init(expiresAfter: .seconds(3_600))).seal()
        let push = try TestPush.open(sealed.bytes).get()
        #expect(push.messageID == sealed.id)
        #expect(push.issuedAt == TestPush.now)
        #expect(push.expiresAt == TestPush.now + 3_600 && push.expiresAt == sealed.expiresAt)
        #expect(try push.kid == TestKeys.id("p256"))
        #expect(push.signedBy == nil)
        #expect(push.attachments.isEmpty && push.offload == nil && !push.isSelfTest)
        #expect(push.content.title.literal == "Zoë")
        #expect(push.content.body.literal == "Build 1.10 is ready")
        #expect(push.content.badge == 3)
        #expect(push.content.userInfo.text == TestPush.json)
    }

    @Test("a push returns its attachments, its offload reference and its self-test flag")
    func extras() throws {
        let attachments = try [Self.attachment(id: "a"), Self.attachment()]
        let (_, offload) = try Self.offloaded(#"{"aps":{"alert":"long"}}"#)
        let push = try Self.opened(TestPush(attachments: attachments, offload: offload, isSelfTest: true))
        #expect(push.attachments == attachments && push.offload == offload && push.isSelfTest)
        #expect(push.payload.text == TestPush.json && push.content.userInfo.text == TestPush.json)
    }

    @Test("a push returns its padding bytes", arguments: [(PaddingPolicy.none, 1), (.multiple(of: 128), 128)])
    func paddingByteCount(policy: PaddingPolicy, multiple: Int) throws {
        let padding = try Self.opened(TestPush(options: .init(padding: policy))).paddingByteCount
        let header = #","pushcrypt":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1800000000,"exp":1802592000}"#
        #expect((TestPush.json.utf8.count + header.utf8.count + padding).isMultiple(of: multiple) && padding < multiple)
    }

    @Test(
        "a message with valid extras opens, and a message with invalid extras is malformed",
        arguments: [
            (#""test":true"#, true), (#""test":false"#, false), (#""attachments":[]"#, false),
            (#""attachments":[{}]"#, false), (#""offload":null"#, false), (#""more":1"#, true),
        ])
    func strict(member: String, isRight: Bool) throws {
        let header = #""id":"AAECAwQFBgcICQoLDA0ODw","iat":1800000000,"exp":1800000060"#
        let push = TestPush(json: #"{"aps":{"alert":"x"},"pushcrypt":{\#(header),\#(member)}}"#)
        let result = try TestPush.open(push.sealedAsMessage())
        if isRight {
            #expect(try result.get().payload.text == #"{"aps":{"alert":"x"}}"#)
        } else {
            #expect(result.failure == .malformed)
        }
    }

    @Test("an offloaded payload replaces the content, and the other properties of the push stay")
    func replaced() throws {
        let json = #"{"aps":{"alert":{"title":"All","body":"of it"},"badge":7}, "n":1.50}"#
        let (plaintext, offload) = try Self.offloaded(json)
        let push = try Self.opened(
            TestPush(signer: "sender", attachments: [Self.attachment()], offload: offload, isSelfTest: true))
        let whole = try push.replacing(offloaded: plaintext)
        #expect(whole.payload.text == json && whole.content.userInfo.text == json)
        #expect(whole.content.title.literal == "All" && whole.content.badge == 7)
        #expect(whole.paddingByteCount == push.paddingByteCount && push.paddingByteCount < 4_096 - json.utf8.count)
        #expect(whole.offload == nil)
        #expect(whole.messageID == push.messageID)
        #expect(whole.issuedAt == push.issuedAt && whole.expiresAt == push.expiresAt)
        #expect(whole.signedBy == push.signedBy && whole.signedBy != nil)
        #expect(whole.attachments == push.attachments)
        #expect(whole.isSelfTest)
    }

    @Test("an offloaded payload with a badge is malformed if the push adds to it", arguments: ["7", "0", "null"])
    func twoBadges(badge: String) throws {
        let (plaintext, offload) = try Self.offloaded(#"{"aps":{"alert":"all","badge":\#(badge)}}"#)
        let short = TestPush(signer: "sender", json: #"{"aps":{"alert":"short"}}"#, offload: offload)
        var adding = short
        adding.options.badgeIncrement = 2
        let push = try Self.opened(adding)
        #expect(push.badgeIncrement == 2)
        #expect(throws: FailureClass.malformed) { try push.replacing(offloaded: plaintext) }
        let (without, _) = try Self.offloaded(#"{"aps":{"alert":"all"}}"#)
        #expect(try push.replacing(offloaded: without).badgeIncrement == 2)
        _ = try Self.opened(short).replacing(offloaded: plaintext)
    }

    @Test("an invalid offloaded payload is malformed", arguments: ["", #"{"aps":{"content-available":1}}"#])
    func notReplaced(json: String) throws {
        let push = try Self.opened(TestPush())
        #expect(throws: FailureClass.malformed) { try push.replacing(offloaded: Array(json.utf8)) }
    }
}
