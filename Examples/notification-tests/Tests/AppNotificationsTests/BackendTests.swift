import Foundation
import PushCryptSender
import PushCryptSimulator
import Testing

/// What a backend's tests say about a push: no device, no server and no file of your own.
@Suite("pushes of the backend") struct BackendTests {
    private let sealer: Sealer

    init() throws { sealer = try Sealer(topic: "com.example.app") }

    @Test("the phone shows the reminder, and APNs sees only the placeholder")
    func reminder() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        let push = try sealer.seal(
            PushNotification(title: "Dr. Amara Osei", body: "Your results are in."),
            to: Recipient(jwk: phone.registration), placeholder: .standard)
        let reception = await phone.receive(push.json)
        #expect(reception.content?.title.literal == "Dr. Amara Osei" && reception.isRestored)
        #expect(reception.original?.title.literal == "New message")
        let wire = String(decoding: push.json, as: UTF8.self)
        #expect(!wire.contains("Osei") && !wire.contains("results"))
    }

    @Test("a phone that was restarted and not unlocked shows the placeholder, and the next push after that the text")
    func beforeTheFirstUnlock() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        let recipient = try Recipient(jwk: phone.registration)
        let push = try sealer.seal(PushNotification(title: "Zoë"), to: recipient, placeholder: .standard)
        phone.device.restart()
        #expect(await phone.receive(push.json).failure == .keyLocked)
        phone.device.unlock()
        let next = try sealer.seal(PushNotification(title: "Zoë"), to: recipient, placeholder: .standard)
        #expect(await phone.receive(next.json).content?.title.literal == "Zoë")
    }
}
