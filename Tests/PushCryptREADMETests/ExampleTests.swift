import Foundation
import PushCryptExtension
import PushCryptFiles
import PushCryptSender
import PushCryptTestSupport
import Testing

/// The examples of sending and receiving in the documents are files beside this one; these tests run them.
@Suite("examples of sending and receiving") struct ExampleTests {
    private let recipient: KeyRecord
    private let sender: KeyRecord

    init() throws {
        recipient = try KeyRecord.generate(.recipient, psk: true, backend: DefaultBackend.shared)
        sender = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
    }

    @Test("a sealed reminder arrives with its title, body, sound and user info") func notificationArrives() async throws
    {
        let sealed = try pusher().sealReminder(for: Data(jwk(recipient.publicRecord(keepingPSK: true))))
        #expect(sealed.byteCount == sealed.json.count)
        let (content, failure) = try await delivery(of: sealed)
        #expect(failure == nil)
        #expect(content.title.literal == "Dr. Amara Osei")
        #expect(content.body.literal == "See you on Monday at 9:40.")
        #expect(content.sound?.name == "chime.caf")
        #expect(content.threadID == "clinic-17")
        let userInfo = try JSONSerialization.jsonObject(with: Data(content.userInfo)) as? [String: Any]
        #expect(userInfo?["appointment"] as? Int == 40_713)
        #expect(userInfo?["pushcrypt"] == nil)
    }

    @Test("a reminder to an unknown key shows the bundled text") func bundledTextStandsInForAnUnknownKey() async throws
    {
        let other = try KeyRecord.generate(.recipient, psk: true, backend: DefaultBackend.shared)
        let sealed = try pusher().sealReminder(for: Data(jwk(other.publicRecord(keepingPSK: true))))
        let (content, failure) = try await delivery(of: sealed)
        #expect(failure == .unknownKey)
        #expect(content.title.literal == Placeholder.standard.title)
        #expect(content.body.literal == Placeholder.standard.body)
    }

    @Test("a record that has lost its psk is refused with pskMissing") func lostPSKIsRefused() throws {
        let record = try Data(jwk(recipient.publicRecord(keepingPSK: false)))
        let error = #expect(throws: SenderError.self) { try pusher().sealReminder(for: record) }
        #expect(error?.code == .pskMissing)
    }

    @Test(
        "the examples of sending to a device require the psk of its record",
        arguments: ["README.md", "Sources/PushCryptSender/PushCryptSender.docc/PushCryptSender.md"])
    func examplesRequirePSK(_ document: String) throws {
        let code = try Documents.blocks(of: "swift", in: document).map(\.text).joined(separator: "\n")
        #expect(code.contains("Registration(json: registration, requiring: [.psk, .asymmetric])"))
        #expect(!code.contains("Recipient(jwk:"))
    }

    @Test("a raw JSON payload arrives byte for byte") func rawJSONArrivesByteForByte() throws {
        let payload = #"{ "n":1.50, "aps":{"alert":"Hello", "badge":3, "interruption-level":"passive"} }"#
        let sealed = try pusher().seal(Data(payload.utf8), to: publicRecipient())
        let opened = try restorer().open(Array(sealed.json), at: now())
        #expect(String(decoding: opened.payload, as: UTF8.self) == payload)
        #expect(opened.expiresAt == opened.issuedAt + 43_200)
        let outside = String(decoding: sealed.json, as: UTF8.self)
        #expect(outside.contains(#""mutable-content":1,"badge":3,"interruption-level":"passive"}"#))
        // `limit` pads as close to the limit as base64url permits.
        #expect((4095...4096).contains(sealed.byteCount))
    }

    @Test("a body over the limit is shown to its last character that fits, with an ellipsis")
    func aBodyThatIsTooLongIsShortened() throws {
        let body = String(repeating: "x", count: 4096)
        let payload = #"{"aps":{"alert":"\#(body)","badge":1,"interruption-level":"active"}}"#
        let sealed = try pusher().seal(Data(payload.utf8), to: publicRecipient())
        let shown = try restorer().open(sealed.bytes, at: now()).content.body.literal
        #expect(sealed.isBodyShortened && shown?.hasSuffix("x…") == true)
    }

    @Test("an unsigned push is refused as undecryptable") func unsignedPushIsRefused() throws {
        let sealed = try Sealer(topic: "com.example.app").seal(
            PushNotification(title: "Hello"), to: publicRecipient(), placeholder: .standard)
        #expect(throws: FailureClass.undecryptable) { try restorer().open(Array(sealed.json), at: now()) }
    }

    private func pusher() throws -> AppointmentPusher {
        let place = try TemporaryFolder()
        try FileSystem.replace(place.path + "/key", with: jwk(sender))
        return try AppointmentPusher(signingKeys: place.path + "/key")
    }

    private func restorer() throws -> PushRestorer {
        try PushRestorer(keys: jwk(recipient), senders: jwk(sender.publicRecord(keepingPSK: false)))
    }

    private func publicRecipient() throws -> Recipient {
        try Recipient(jwk: jwk(recipient.publicRecord(keepingPSK: true)))
    }

    private func delivery(of sealed: SealedPush) async throws -> (NotificationContent, FailureClass?) {
        let restorer = try restorer()
        return await withCheckedContinuation { continuation in
            _ = restorer.restore(Array(sealed.json)) { content, failure in
                continuation.resume(returning: (content, failure))
            }
        }
    }

    private func now() -> UnixTime { UnixTime(Int64(Date().timeIntervalSince1970)) }

    private func jwk(_ record: KeyRecord) throws -> [UInt8] {
        var bytes = [UInt8]()
        try record.appendJWK(to: &bytes)
        return bytes
    }
}
