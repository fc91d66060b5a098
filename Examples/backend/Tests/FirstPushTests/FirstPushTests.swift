import ArgumentParser
import BackendTestSupport
import Foundation
import PushCryptAPNs
import PushCryptExtension
import PushCryptSimulator
import Testing

@testable import first_push

@Suite("the program first-push", .enabled(if: RunningStandIn.isAvailable, RunningStandIn.requirement))
struct FirstPushTests {
    private static let topic = "com.example.app"
    private static let deviceToken = "aa11"

    @Test("the text of a signed push is on the phone's screen")
    func screen() async throws {
        try await RunningStandIn.with { apns in
            let keys = SigningKeys()
            let phone = try await TestDevice(
                topic: Self.topic, senders: .pinned(try TrustedSenders(json: keys.publicKey)))
            try await apns.add(token: Self.deviceToken, topic: Self.topic)
            try await send(to: phone, signedBy: keys, apns)
            let push = try #require(try apns.accepted.first)
            let reception = await phone.receive(
                Data(push.payload),
                PushHeaders(
                    topic: push.headers["apns-topic"] ?? "", pushType: push.headers["apns-push-type"] ?? "",
                    expiration: push.headers["apns-expiration"].flatMap(Int64.init).map(UnixTime.init)))
            #expect(reception.isRestored)
            let banner = phone.device.center.lockScreen.groups.first?.banners.first
            #expect(banner?.title == "Dr. Amara Osei" && banner?.body == "Your results are in.")
        }
    }

    @Test("a push to an unknown device token throws APNs' status and reason")
    func refusal() async throws {
        try await RunningStandIn.with { apns in
            let phone = try await TestDevice(topic: Self.topic)
            try await apns.add(token: "bb22", topic: Self.topic)
            let refusal = await #expect(throws: FirstPush.NotSent.self) {
                try await send(to: phone, signedBy: SigningKeys(), apns)
            }
            guard case .refused(400, "BadDeviceToken")? = refusal?.result else {
                Issue.record("\(refusal.map { "\($0)" } ?? "no error")")
                return
            }
            #expect(try apns.accepted.isEmpty)
        }
    }

    /// Runs the program with the files that it needs.
    private func send(to phone: TestDevice, signedBy keys: SigningKeys, _ apns: RunningStandIn) async throws {
        let folder = try TemporaryFolder()
        let program = try FirstPush.parse([
            "--registration", folder.write(phone.registration, to: "registration.json"), "--device-token",
            Self.deviceToken,
            "--topic", Self.topic, "--signing-keys", keys.path,
            "--apns-key", folder.write(Data(apns.providerKeyPEM.utf8), to: "apns.p8"), "--apns-key-id",
            RunningStandIn.keyID,
            "--team-id", RunningStandIn.teamID, "--server", apns.base,
            "--trust", folder.write(Data(apns.certificatePEM.utf8), to: "apns.pem"),
            "--title", "Dr. Amara Osei", "--body", "Your results are in.",
        ])
        try await program.run()
    }
}
