import AppNotifications
import Foundation
import PushCryptSender
import PushCryptSimulator
import Testing

/// What an app's tests say about its own stages.
@Suite("stages of the app") struct StageTests {
    @Test("a number of the address book is shown as its name")
    func contactName() async throws {
        let phone = try await TestDevice(topic: "com.example.app") { configuration, _ in
            configuration.stages = [ContactNames(["+44 20 7946 0000": "Zoë"])]
        }
        let push = try Sealer(topic: "com.example.app").seal(
            PushNotification(title: "+44 20 7946 0000", body: "Hi"), to: Recipient(jwk: phone.registration),
            placeholder: .standard)
        #expect(await phone.receive(push.json).content?.title.literal == "Zoë")
    }

    @Test(
        "a picture is shown if it arrives in time, and otherwise the text without it, after simulated seconds",
        arguments: [(2, nil), (60, .attachmentFailed)] as [(Int, FailureClass?)])
    func slowPicture(seconds: Int, failure: FailureClass?) async throws {
        let phone = try await TestDevice(topic: "com.example.app", plainMembers: ["image_url"])
        // The beginning of a PNG file. The phone needs 16 bytes to recognize a picture.
        let picture: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
        phone.device.network.serve(picture, at: "https://example.com/p.png", for: .seconds(seconds))
        let push = try Sealer(topic: "com.example.app").seal(
            Data(#"{"aps":{"alert":"Hi"},"image_url":"https://example.com/p.png"}"#.utf8),
            to: Recipient(jwk: phone.registration), placeholder: .standard)
        let reception = await phone.receive(push.json)
        #expect(reception.failure == failure && reception.content?.body.literal == "Hi")
        #expect(reception.content?.attachments.count == (failure == nil ? 1 : 0))
    }
}
