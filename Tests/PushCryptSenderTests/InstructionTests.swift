import Foundation
import PushCryptCore
import PushCryptSender
import Testing

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
