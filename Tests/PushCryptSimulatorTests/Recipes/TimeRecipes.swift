import PushCryptSimulator
import Testing

/// A stage that asks a slow server.
private struct SlowStage: ContentStage {
    let clock: SimulatedClock
    let timeLimit: Duration? = nil

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        try await clock.sleep(for: .seconds(60))
        return NotificationContent()
    }
}

@Suite("network and time") struct TimeRecipes {
    @Test("a download that runs out of time leaves the text, after simulated seconds")
    func slowDownload() async throws {
        let cases: [(Int, FailureClass?)] = [(13, nil), (15, .attachmentFailed), (60, .attachmentFailed)]
        for (seconds, failure) in cases {
            let phone = try await TestDevice(topic: "com.example.app", plainMembers: ["image_url"])
            phone.device.network.serve(picture, at: "https://example.com/p", for: .seconds(seconds))
            let reception = try await phone.receive(
                sealed: #"{"aps":{"alert":"Your picture"},"image_url":"https://example.com/p"}"#)
            #expect(reception.failure == failure && reception.content?.body.literal == "Your picture")
            #expect(reception.content?.attachments.count == (failure == nil ? 1 : 0))
            #expect(phone.device.clock.elapsed == .seconds(min(seconds, 14)))
        }
    }

    @Test("a stage that doesn't end in time leaves the restored text: the best attempt at the expiry")
    func bestAttempt() async throws {
        let phone = try await TestDevice(topic: "com.example.app") { configuration, device in
            configuration.stages = [SlowStage(clock: device.clock)]
        }
        let reception = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"}}"#)
        #expect(reception.isRestored && reception.content?.body.literal == "Hi")
        #expect(phone.device.clock.elapsed < .seconds(30))
    }

    @Test("an extension whose process ends shows the original, and the next push is restored")
    func endedProcess() async throws {
        let phone = try await TestDevice(topic: "com.example.app", plainMembers: ["image_url"])
        phone.device.network.serve(picture, at: "https://example.com/p", for: .seconds(5))
        _ = phone.device.clock.schedule(after: .seconds(3)) { phone.device.endExtensionProcess() }
        let payload = #"{"aps":{"alert":"Hi"},"image_url":"https://example.com/p"}"#
        #expect(try await phone.receive(sealed: payload).content?.title.literal == "New message")
        #expect(try await phone.receive(sealed: payload).content?.body.literal == "Hi")
    }

    @Test("a phone in airplane mode receives what APNs has kept")
    func airplaneMode() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        phone.device.goOffline()
        #expect(try await phone.receive(sealed: #"{"aps":{"alert":"Hi"}}"#).isStored)
        #expect(await phone.device.goOnline()?.content?.body.literal == "Hi")
    }

    @Test("a push that expires in airplane mode isn't shown, and a collapse id replaces a notification")
    func headers() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        var headers = PushHeaders(topic: "com.example.app", collapseID: "score")
        for score in ["1:0", "2:0"] {
            _ = await phone.receive(try phone.sealed(#"{"aps":{"alert":"\#(score)"}}"#), headers)
        }
        headers.expiration = phone.device.clock.time + 3_600
        phone.device.goOffline()
        _ = await phone.receive(try phone.sealed(#"{"aps":{"alert":"3:0"}}"#), headers)
        phone.device.clock.advance(by: .seconds(3_600))
        #expect(await phone.device.goOnline() == nil)
        #expect(phone.device.center.deliveredNotifications.map(\.request.content.body.literal) == ["2:0"])
    }
}
