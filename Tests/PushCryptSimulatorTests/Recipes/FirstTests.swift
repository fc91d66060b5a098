import Foundation
import PushCryptSender
import PushCryptSimulator
import Testing

@Suite("pushes of the backend") struct FirstTests {
    @Test("the phone shows the encrypted text, and APNs sees the placeholder")
    func encryptedText() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        let push = try Sealer(topic: "com.example.app").seal(
            PushNotification(title: "Dr. Amara Osei", body: "Your results are in."),
            to: Recipient(jwk: phone.registration), placeholder: .standard)
        let reception = await phone.receive(push.json)
        #expect(reception.isRestored && reception.content?.body.literal == "Your results are in.")
        #expect(reception.original?.body.literal == "Open the app to read it")
        let wire = String(decoding: push.json, as: UTF8.self)
        #expect(!wire.contains("Osei") && !wire.contains("results"))
        #expect(phone.device.center.lockScreen.groups.first?.banners.map(\.title) == ["Dr. Amara Osei"])
    }

    @Test("APNs refuses a payload of more than 4,096 bytes")
    func tooLarge() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 4_096))"}}"#
        #expect(await phone.receive(Data(payload.utf8)).refusal == .payloadTooLarge)
    }
}
