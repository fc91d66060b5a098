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

    @Test("a picture that takes longer than the phone waits leaves the text, after simulated seconds and no real ones")
    func slowPicture() async throws {
        let phone = try await TestDevice(topic: "com.example.app", plainMembers: ["image_url"])
        phone.device.network.serve([0x89, 0x50, 0x4e, 0x47], at: "https://example.com/p.png", for: .seconds(60))
        let push = try Sealer(topic: "com.example.app").seal(
            Data(#"{"aps":{"alert":"Hi"},"image_url":"https://example.com/p.png"}"#.utf8),
            to: Recipient(jwk: phone.registration), placeholder: .standard)
        let reception = await phone.receive(push.json)
        #expect(reception.failure == .attachmentFailed && reception.content?.body.literal == "Hi")
    }
}
