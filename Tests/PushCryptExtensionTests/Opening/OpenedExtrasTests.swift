import PushCryptCore
import PushCryptExtension
import PushCryptSender
import Testing

/// The extras of a message, and the offloaded payload.
@Suite struct OpenedExtrasTests {
    private static func attachment(id: String? = nil) throws -> AttachmentReference {
        try AttachmentReference(
            url: "https://a.b/c", blob: SealedBlob([1, 2, 3], for: .attachment).reference, type: "image/png", id: id)
    }

    private static func offloaded(_ json: String) throws -> (plaintext: [UInt8], reference: OffloadReference) {
        let blob = try Sealer.offload(Array(json.utf8))
        let plaintext = try BlobOpener.plaintext(of: blob.bytes, blob.reference)
        return (plaintext, try OffloadReference(url: "https://a.b/d", blob: blob.reference))
    }

    private static func opened(
        _ attachments: [AttachmentReference] = [], _ offload: OffloadReference? = nil, isSelfTest: Bool = false,
        signer: String? = nil, _ options: Sealer.Options = Sealer.Options(),
        json: String = TestPush.json
    ) throws -> OpenedPush {
        let sealer = try Sealer(
            topic: TestPush.topic, signer: signer.map { try .key(TestKeys.sender($0)) }, clock: { TestPush.now })
        let push = try sealer.seal(
            Array(json.utf8), to: TestKeys.recipient("p256"), placeholder: .standard,
            attachments: attachments, offload: offload, isSelfTest: isSelfTest
        ) { $0 = options }
        return try TestPush.open(Array(push.json), trusting: signer.map { [$0] }).get()
    }

    @Test("a push without extras has no attachments, no offload and isn't a self-test")
    func none() throws {
        let push = try Self.opened()
        #expect(push.attachments.isEmpty)
        #expect(push.offload == nil)
        #expect(!push.isSelfTest)
    }

    @Test("a push returns its attachments, its offload reference and its self-test flag")
    func all() throws {
        let attachments = try [Self.attachment(id: "a"), Self.attachment()]
        let (_, offload) = try Self.offloaded(#"{"aps":{"alert":"long"}}"#)
        let push = try Self.opened(attachments, offload, isSelfTest: true)
        #expect(push.attachments == attachments)
        #expect(push.offload == offload)
        #expect(push.isSelfTest)
        #expect(push.payload.text == TestPush.json)
        #expect(push.content.userInfo.text == TestPush.json)
    }

    @Test(
        "a message with valid extras opens, and a message with invalid extras is malformed",
        arguments: [
            (#""test":true"#, true), (#""test":false"#, false), (#""attachments":[]"#, false),
            (#""attachments":[{}]"#, false), (#""offload":null"#, false), (#""more":1"#, true),
        ])
    func strict(member: String, isRight: Bool) throws {
        let json =
            #"{"aps":{"alert":"x"},"pushcrypt":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1800000000,"exp":1800000060,"#
            + member + "}}"
        let payload = try TestPush(json: json).sealedAsMessage()
        if isRight {
            #expect(try TestPush.open(payload).get().payload.text == #"{"aps":{"alert":"x"}}"#)
        } else {
            try expectFailure(.malformed) { try TestPush.open(payload) }
        }
    }

    @Test("an offloaded payload replaces the content, and the other properties of the push stay")
    func replaced() throws {
        let json = #"{"aps":{"alert":{"title":"All","body":"of it"},"badge":7}, "n":1.50}"#
        let (plaintext, offload) = try Self.offloaded(json)
        let push = try Self.opened([Self.attachment()], offload, isSelfTest: true, signer: "sender")
        let whole = try push.replacing(offloaded: plaintext)
        #expect(whole.payload.text == json)
        #expect(whole.content.title.literal == "All")
        #expect(whole.content.badge == 7)
        #expect(whole.content.userInfo.text == json)
        #expect(whole.paddingByteCount == push.paddingByteCount && push.paddingByteCount < 4_096 - json.utf8.count)
        #expect(whole.offload == nil)
        #expect(whole.messageID == push.messageID)
        #expect(whole.issuedAt == push.issuedAt)
        #expect(whole.expiresAt == push.expiresAt)
        #expect(whole.signedBy == push.signedBy && whole.signedBy != nil)
        #expect(whole.attachments == push.attachments)
        #expect(whole.isSelfTest)
    }

    @Test(
        "an offloaded payload with a badge is malformed if the push adds to the badge", arguments: ["7", "0", "null"])
    func twoBadges(badge: String) throws {
        let (plaintext, offload) = try Self.offloaded(#"{"aps":{"alert":"all","badge":\#(badge)}}"#)
        let adding = try Self.opened(
            [], offload, signer: "sender", Sealer.Options(badgeIncrement: 2), json: #"{"aps":{"alert":"short"}}"#)
        #expect(adding.badgeIncrement == 2)
        #expect(throws: FailureClass.malformed) { try adding.replacing(offloaded: plaintext) }
        let (without, _) = try Self.offloaded(#"{"aps":{"alert":"all"}}"#)
        #expect(try adding.replacing(offloaded: without).badgeIncrement == 2)
        _ = try Self.opened([], offload, signer: "sender").replacing(offloaded: plaintext)
    }

    @Test("a push returns what it retracts, that it is quiet, and its avatar apart from its attachments")
    func instructions() throws {
        let ids = ["AAECAwQFBgcICQoLDA0ODw", "AQECAwQFBgcICQoLDA0ODw"]
        let quiet = try Self.opened(signer: "sender", Sealer.Options(retractedIDs: ids, isQuiet: true))
        #expect(quiet.retractedMessageIDs == ids)
        #expect(quiet.isQuiet)
        #expect(quiet.profile == 2)
        let avatar = try AttachmentReference(
            url: "https://a.b/c", blob: SealedBlob([1, 2, 3], for: .attachment).reference, type: "image/png",
            use: .avatar)
        let push = try Self.opened([avatar, Self.attachment(id: "a")], signer: "sender")
        #expect(push.avatar == avatar)
        #expect(push.attachments.map(\.id) == ["a"])
        #expect(push.retractedMessageIDs.isEmpty && !push.isQuiet && push.badgeIncrement == nil)
    }

    @Test(
        "an invalid offloaded payload is malformed",
        arguments: [
            "", "    ", "{}", "[]", "x", #"{"aps":{"alert":""}}"#, #"{"aps":{"content-available":1}}"#,
            #"{"aps":{"alert":"x"},"a":1,"a":2}"#, #"{"aps":{"alert":"x"}}}"#,
            #"{"aps":{"alert":"x"},"pushcrypt":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1,"exp":2}}"#,
            #"{"aps":{"alert":"x"},"pushcrypt":null}"#,
        ])
    func notReplaced(json: String) throws {
        let push = try Self.opened()
        #expect(throws: FailureClass.malformed) { try push.replacing(offloaded: Array(json.utf8)) }
    }
}
