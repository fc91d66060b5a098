import Foundation
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import Testing

@Suite struct TestDeviceTests {
    @Test(
        "a push that is sealed minutes after the phone was made is restored, and the phone's clock has moved to its time",
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
        #expect(try phone.device.clock.elapsed == .seconds(elapsed) && phone.store.statistics().opened?.count == 1)
    }

    @Test func `an invalid topic is thrown`() async throws {
        await #expect(throws: KeyError.self) { try await TestDevice(topic: "") }
    }
}
