import Foundation
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import Testing

@Suite struct TestDeviceTests {
    private let sealer: Sealer

    init() throws { sealer = try Sealer(topic: "com.example.app") }

    private struct Suffix: ContentStage {
        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = content
            content.title.literal? += "!"
            return content
        }
    }

    @Test("a push that was sealed to the registration shows what the app's stages make of it")
    func stages() async throws {
        let phone = try await TestDevice(topic: "com.example.app") { configuration, _ in
            configuration.stages = [Suffix()]
        }
        let recipient = try Recipient(jwk: phone.registration)
        let push = try sealer.seal(PushNotification(title: "Zoë"), to: recipient, placeholder: .standard)
        let reception = await phone.receive(push.json)
        #expect(reception.isRestored && reception.content?.title.literal == "Zoë!")
        #expect(try phone.store.statistics().opened?.count == 1)
        #expect(phone.device.center.lockScreen.groups.first?.banners.map(\.title) == ["Zoë!"])
    }

    @Test("two devices have different keys, and a push to one is unknownKey on the other")
    func keys() async throws {
        let (one, other) = try await (TestDevice(topic: "com.example.app"), TestDevice(topic: "com.example.app"))
        #expect(one.registration != other.registration)
        let push = try sealer.seal(
            PushNotification(title: "Zoë"), to: Recipient(jwk: one.registration), placeholder: .standard)
        #expect(await other.receive(push.json).failure == .unknownKey)
        #expect(await one.receive(push.json).isRestored)
    }

    @Test(
        "a push that is sealed minutes after the phone was made is restored; the phone's clock has moved to its time, unless it was ahead",
        arguments: [(0, 60, 0), (0, 61, 61), (0, 3_600, 3_600), (86_400, 3_600, 86_400)])
    func longTest(advance: Int, sealedAfter: Int, elapsed: Int) async throws {
        let realTime = Locked(UnixTime.now)
        let now: @Sendable () -> UnixTime = { realTime.withLock { $0 } }
        let phone = try await TestDevice(
            topic: "com.example.app", clock: SimulatedClock(startingAt: now(), following: now))
        phone.device.clock.advance(by: .seconds(advance))
        realTime.withLock { $0 = $0 + Int64(sealedAfter) }
        let push = try Sealer(topic: "com.example.app", clock: now).seal(
            PushNotification(title: "Zoë"), to: Recipient(jwk: phone.registration), placeholder: .standard)
        #expect(await phone.receive(push.json).isRestored)
        #expect(phone.device.clock.elapsed == .seconds(elapsed))
    }

    @Test("an attachment comes from the device's network, in the time of its clock")
    func attachment() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        let blob = try SealedBlob(picture, for: .attachment)
        phone.device.network.serve(blob.bytes, at: "https://example.com/b", for: .seconds(3))
        let push = try sealer.seal(
            PushNotification(title: "Zoë"), to: Recipient(jwk: phone.registration), placeholder: .standard,
            attachments: [AttachmentReference(url: "https://example.com/b", blob: blob.reference, type: "image/gif")])
        let reception = await phone.receive(push.json)
        let path = try #require(reception.content?.attachments.first?.path)
        #expect(phone.device.center.file(path) == picture)
        #expect(phone.device.clock.elapsed == .seconds(3))
    }

    @Test("an invalid topic is thrown")
    func topic() async throws {
        await #expect(throws: KeyError.self) { try await TestDevice(topic: "") }
    }
}
