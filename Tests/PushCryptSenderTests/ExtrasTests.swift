import Foundation
import PushCryptCore
import PushCryptSender
import PushCryptTestSupport
import Testing

@Suite struct ExtrasTests {
    private static func attachment(_ index: Int = 0, id: String? = nil) throws -> AttachmentReference {
        let blob = try SealedBlob([UInt8](repeating: 1, count: index), for: .attachment)
        return try AttachmentReference(
            url: "https://cdn.example.com/\(index)", blob: blob.reference, type: "image/png", id: id)
    }

    @Test("attachments, offload and self-test are written into the header", arguments: Channel.allOnBoth)
    func inTheHeader(channel: Channel) throws {
        let attachments = [try Self.attachment(1, id: "a"), try Self.attachment(2)]
        let payload = Array(#"{"aps":{"alert":"x"}}"#.utf8)
        let offload = try OffloadReference(url: "https://a.b/c", blob: Sealer.offload(payload).reference)
        let push = try channel.sealer().seal(
            payload, to: channel.recipient(), placeholder: Channel.placeholder, attachments: attachments,
            offload: offload, isSelfTest: true)
        let reading = try Reading(push, channel)
        let extras = try #require(reading.inner.header(proof: .signature)?.extras)
        #expect(extras == MessageExtras(attachments: attachments, offload: offload, isSelfTest: true))
        #expect(reading.payload == #"{"aps":{"alert":"x"}}"#)
        #expect(reading.message.count.isMultiple(of: 128))
        #expect(!String(decoding: push.json, as: UTF8.self).contains("cdn.example.com"))
    }

    @Test(
        "a payload with extras fits a limit of its exact size and not one byte less",
        arguments: [Channel.all[0], Channel.all[3], Channel.all[8]])
    func exactSize(channel: Channel) throws {
        let sealer = try channel.sealer(Sealer.Options(padding: .none))
        func size(_ attachments: [AttachmentReference], _ isSelfTest: Bool = false, limit: Int = 4_096) throws -> Int {
            try sealer.seal(
                Array(#"{"aps":{"alert":"x"}}"#.utf8), to: channel.recipient(), placeholder: Channel.placeholder,
                attachments: attachments, isSelfTest: isSelfTest, changing: { $0.limitInBytes = limit }
            ).byteCount
        }
        let attachments = try (0..<8).map { try Self.attachment($0, id: "id-\($0)") }
        for count in 0...8 {
            let exact = try size(Array(attachments[..<count]), count == 3)
            #expect(try size(Array(attachments[..<count]), count == 3, limit: exact) == exact)
            let error = expectSenderError(.tooLarge) {
                try size(Array(attachments[..<count]), count == 3, limit: exact - 1)
            }
            #expect(error?.bytesNeeded == exact)
        }
        #expect(try size([]) < size([], true))
    }

    @Test("two attachments with one id are refused") func refused() throws {
        let twice = try [Self.attachment(1, id: "a"), Self.attachment(2, id: "a")]
        expectSenderError(.invalidOption) {
            try Channel.simple.sealer().seal(
                #"{"aps":{"alert":"x"}}"#, to: Channel.simple.recipient(), attachments: twice)
        }
    }
}

@Suite struct OffloadTests {
    private static let url = "https://cdn.example.com/payload"

    @Test("an offloaded payload is read back from its blob", arguments: Backends.all)
    func roundTrip(named: NamedBackend) throws {
        let long = String(repeating: "long ", count: 2_000)
        let json = #"{"aps":{"alert":{"body":"\#(long)"}}, "n":1.50}"#
        let sealed = try Sealer.offload(Array(json.utf8), backend: named.backend)
        #expect(sealed.reference.purpose == .payload)
        #expect(sealed.reference.size == 12_288)
        let plaintext = try BlobOpener.plaintext(of: sealed.bytes, sealed.reference, backend: named.backend)
        #expect(String(decoding: plaintext, as: UTF8.self).hasPrefix(json + "  "))
    }

    @Test("a PushNotification and Data can be offloaded") func payloadTypes() throws {
        let notification = PushNotification(body: "x")
        for blob in [try Sealer.offload(notification), try Sealer.offload(Data(#"{"aps":{"alert":"x"}}"#.utf8))] {
            let plaintext = try BlobOpener.plaintext(of: blob.bytes, blob.reference)
            #expect(plaintext.count == 4_096)
            #expect(try InnerPayload(message: plaintext).aps?["alert"] != nil)
        }
    }

    @Test("a payload with too many values is refused for sealing and for offloading")
    func tooManyValues() {
        let zeros = Array(repeating: "0", count: 16_381).joined(separator: ",")
        let json = #"{"aps":{"alert":"x"},"x":[\#(zeros)]}"#
        for error in [
            expectSenderError(.invalidPayload, nil) { try Sealer.offload(Array(json.utf8)) },
            expectSenderError(.invalidPayload, nil) { try Channel.simple.seal(json) },
        ] {
            #expect(error?.reason.contains("16384 JSON values") == true)
        }
    }
}

/// Retractions, quiet pushes, increments of the badge and avatars. `RefusalVectorTests` has their limits.
@Suite struct InstructionTests {
    private static let json = #"{"aps":{"alert":"x","sound":"ding.caf"}}"#
    private static let id = "AAECAwQFBgcICQoLDA0ODw"
    private static let options = Sealer.Options(retractedIDs: [id], isQuiet: true, badgeIncrement: -3)
    private static let withProof = Channel.all.filter { !$0.isWithoutProof }
    private static let withoutProof = Channel.all.filter(\.isWithoutProof)

    private static func ids(_ count: Int) -> [String] {
        (0..<count).map { Base64URL.encode([UInt8](repeating: UInt8($0), count: 16)) }
    }

    private static func attachment(_ use: AttachmentReference.Use) throws -> AttachmentReference {
        let blob = try SealedBlob([1], for: .attachment)
        return try AttachmentReference(url: "https://a.b/c", blob: blob.reference, type: "image/png", use: use)
    }

    private static func seal(
        _ options: Sealer.Options = Sealer.Options(), _ attachments: [AttachmentReference] = [],
        over channel: Channel = .simple, json: String = json
    ) throws -> SealedPush {
        try channel.sealer().seal(
            json, to: channel.recipient(), placeholder: Channel.placeholder, attachments: attachments
        ) { $0 = options }
    }

    @Test("instructions are written into the header of a push with a proof", arguments: withProof)
    func inTheHeader(channel: Channel) throws {
        let push = try Reading(Self.seal(Self.options, over: channel), channel)
        let extras = MessageExtras(retractedIDs: [Self.id], isQuiet: true, badgeIncrement: -3)
        #expect(push.inner.header(proof: .secret)?.extras == extras)
        #expect(push.payload == Self.json)
        let avatars = [try Self.attachment(.avatar), try Self.attachment(.shown)]
        let other = try Reading(Self.seal(Sealer.Options(), avatars, over: channel), channel)
        #expect(other.inner.header(proof: .secret)?.extras.attachments == avatars)
    }

    @Test(
        "an instruction to a recipient whose public key is all that a sender needs is notAuthenticated",
        arguments: withoutProof)
    func baseProfile(channel: Channel) throws {
        for options in [
            Sealer.Options(retractedIDs: [Self.id]), Sealer.Options(isQuiet: true), Sealer.Options(badgeIncrement: 0),
        ] {
            expectSenderError(.notAuthenticated) { try Self.seal(options, over: channel) }
        }
        let avatar = try Self.attachment(.avatar)
        expectSenderError(.notAuthenticated) { try Self.seal(Sealer.Options(), [avatar], over: channel) }
        _ = try Self.seal(Sealer.Options(), [Self.attachment(.shown)], over: channel)
    }

    @Test("16 retracted ids and the extreme increments are sealed, and wrong ones are invalidOption")
    func extremes() throws {
        _ = try Self.seal(Sealer.Options(retractedIDs: Self.ids(16), badgeIncrement: 999))
        _ = try Self.seal(Sealer.Options(badgeIncrement: -999))
        let trailingBits = Sealer.Options(retractedIDs: ["AAECAwQFBgcICQoLDA0ODx"])
        for options in [Sealer.Options(retractedIDs: [""]), trailingBits, Sealer.Options(badgeIncrement: .min)] {
            expectSenderError(.invalidOption) { try Self.seal(options) }
        }
    }

    @Test("a quiet push with an avatar or an offloaded payload is invalidOption")
    func quietFetchesNothing() throws {
        let avatar = try Self.attachment(.avatar)
        expectSenderError(.invalidOption) { try Self.seal(Sealer.Options(isQuiet: true), [avatar]) }
        let offload = try OffloadReference(url: "https://a.b/c", blob: Sealer.offload(Array(Self.json.utf8)).reference)
        expectSenderError(.invalidOption) {
            try Channel.simple.sealer().seal(
                Self.json, to: Channel.simple.recipient(), placeholder: Channel.placeholder, offload: offload
            ) { $0.isQuiet = true }
        }
    }

    @Test("only a quiet push hides that its payload has a sound")
    func sound() throws {
        #expect(try Reading(Self.seal(), .simple).aps["sound"] as? String == "default")
        #expect(try Reading(Self.seal(Sealer.Options(isQuiet: true)), .simple).aps["sound"] == nil)
    }

    @Test("a campaign's push can't retract itself, and the next campaign's can retract it", arguments: withProof)
    func campaigns(channel: Channel) throws {
        let spring = try Self.seal(Sealer.Options(campaign: "spring"), over: channel)
        let id = try channel.recipient().messageID(ofCampaign: "spring")
        #expect(id == spring.id)
        expectSenderError(.invalidOption) {
            try Self.seal(Sealer.Options(campaign: "spring", retractedIDs: [id]), over: channel)
        }
        let autumn = try Self.seal(Sealer.Options(campaign: "autumn", retractedIDs: [id]), over: channel)
        #expect(try Reading(autumn, channel).inner.header(proof: .secret)?.extras.retractedIDs == [spring.id])
    }

    @Test("a campaign's name of 0 or 256 bytes has no message id", arguments: [0, 256])
    func badCampaign(count: Int) throws {
        let recipient = try Channel.simple.recipient()
        expectSenderError(.invalidOption) {
            try recipient.messageID(ofCampaign: String(repeating: "x", count: count))
        }
    }
}
