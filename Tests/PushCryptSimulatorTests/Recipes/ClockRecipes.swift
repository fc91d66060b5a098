import PushCryptSender
import PushCryptSimulator
import Testing

@Suite("clocks") struct ClockRecipes {
    private let text = PushNotification(title: "Zoë", body: "Hi")

    @Test("a phone whose clock is hours wrong shows the placeholder: the push is expired, or not valid yet")
    func wrongClock() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        let sealer = try Sealer(topic: "com.example.app")
        let push = try sealer.seal(text, to: Recipient(jwk: phone.registration), placeholder: .standard) {
            $0.expiresAfter = .seconds(600)
        }
        for (error, failure) in [(3_600, FailureClass.expired), (-3_600, .notYetValid)] {
            phone.device.clockError = .seconds(error)
            #expect(await phone.receive(push.json).failure == failure)
        }
    }

    @Test("a phone with a fixed time needs a sealer with the same time")
    func fixedTime() async throws {
        let clock = SimulatedClock(startingAt: UnixTime(1_774_750_000))
        let phone = try await TestDevice(topic: "com.example.app", clock: clock)
        let sealer = try Sealer(topic: "com.example.app", clock: { clock.time })
        let push = try sealer.seal(text, to: Recipient(jwk: phone.registration), placeholder: .standard)
        #expect(await phone.receive(push.json).isRestored)
    }
}
