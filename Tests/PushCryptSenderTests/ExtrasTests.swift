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

    @Test("extras outside their limits are refused") func refused() throws {
        let nine = try (0..<9).map { try Self.attachment($0) }
        let twice = try [Self.attachment(1, id: "a"), Self.attachment(2, id: "a")]
        for attachments in [nine, twice] {
            expectSenderError(.invalidOption) {
                try Channel.simple.sealer().seal(
                    Array(#"{"aps":{"alert":"x"}}"#.utf8), to: Channel.simple.recipient(),
                    placeholder: Channel.placeholder, attachments: attachments)
            }
        }
    }

    @Test("a message without extras has no member for them") func nothingIsAdded() throws {
        let push = try Channel.simple.seal(#"{"aps":{"alert":"x"}}"#, Sealer.Options(padding: .none))
        let message = String(decoding: try Reading(push, Channel.simple).message, as: UTF8.self)
        let expected = /\{"aps":\{"alert":"x"\},"pushcrypt":\{"id":"[A-Za-z0-9_-]{22}","iat":\d+,"exp":\d+\}\}/
        #expect(message.wholeMatch(of: expected) != nil)
    }
}
