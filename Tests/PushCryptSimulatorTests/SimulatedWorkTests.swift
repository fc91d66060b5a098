import Foundation
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Work at the same time, its time, and the end of its process.
@Suite struct SimulatedWorkTests: DeviceSuite {
    let fixture: DeviceFixture

    init() throws { fixture = try DeviceFixture() }

    @Test func `a process that the system ends posts no receipt any more, and the app sends it`() async throws {
        let device = try await device(Self.options { $0.endsProcessAfter = .seconds(5) }) { configuration, device in
            configuration.receipts = try? ReceiptPosting(
                to: "https://example.com/r", transport: device.network, delay: .init { .seconds(10) })
        }
        #expect(await device.receive(try seal()).isRestored)
        clock.advance(by: .seconds(60))
        #expect(device.network.posts.isEmpty)
        #expect(try SharedStore(folder: folder.path + "/store", role: .app).receiptCount() == 1)
    }

    @Test func `the end of a process after the start of a push doesn't end it during the next push`() async throws {
        let device = try await device(Self.options { $0.endsProcessAfter = .seconds(5) })
        device.network.serve(Self.png, at: "https://example.com/p.png", for: .seconds(4))
        let json = #"{"aps":{"alert":{"title":"Zoë"}},"image_url":"https://example.com/p.png"}"#
        for _ in 1...2 { #expect(await device.receive(try seal(json)).isRestored) }
        #expect(clock.elapsed == .seconds(8))
    }

    @Test func `two pushes with one collapse id at the same time get their own reports`() async throws {
        let device = try await device()
        let headers = PushHeaders(topic: Self.topic, collapseID: "c")
        let one = try seal(#"{"aps":{"alert":"1"},"push_id":"1"}"#)
        let two = try seal(#"{"aps":{"alert":"2"},"push_id":"2"}"#)
        async let first = device.receive(one, headers)
        async let second = device.receive(two, headers)
        #expect(await [first.report?.pushID, second.report?.pushID] == ["1", "2"])
    }

    @Test func `a session that runs on after its process ended doesn't report for the next push`() async throws {
        let device = try await device()
        let headers = PushHeaders(topic: Self.topic, collapseID: "c")
        _ = clock.schedule(after: .seconds(3)) { device.endExtensionProcess() }
        for (id, seconds) in [("1", 5), ("2", 9)] {
            device.network.serve(Self.png, at: "https://example.com/\(id).png", for: .seconds(seconds))
            let payload = try seal(
                #"{"aps":{"alert":"x"},"push_id":"\#(id)","image_url":"https://example.com/\#(id).png"}"#)
            let reception = await device.receive(payload, headers)
            #expect(reception.report?.pushID == (id == "1" ? nil : id))
            #expect(reception.presentation?.origin == (id == "1" ? .died : .handedOver))
        }
    }

    @Test func `of two pushes in one process, each is warned after its own 29 seconds`() async throws {
        let (waits, begins) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        let device = try await device { configuration, device in
            configuration.deadline = .seconds(300)
            configuration.stages = [
                Signalling(begins: begins.continuation), Waiting(clock: device.clock, duration: .seconds(60)),
            ]
        }
        let (one, two) = (try seal(#"{"aps":{"alert":"1"}}"#), try seal(#"{"aps":{"alert":"2"}}"#))
        // The clock stands still until the first push is on its way.
        async let second = clock.run { [clock] in
            waits.continuation.finish()
            for await _ in begins.stream { break }
            try? await clock.sleep(for: .seconds(20))
            return await device.receive(two)
        }
        for await _ in waits.stream {}
        async let first = device.receive(one)
        #expect(await first.isRestored)
        #expect(await second.isRestored)
        #expect(presentedSeconds(device) == [29, 49])
    }

    @Test func `a push with text only is complete while another one waits for its picture`() async throws {
        let device = try await device { configuration, device in
            configuration.stages = [Busy(network: device.network)]
        }
        device.network.serve(Self.png, at: "https://example.com/p.png", for: .seconds(5))
        let picture = try seal(#"{"aps":{"alert":"p"},"image_url":"https://example.com/p.png"}"#)
        let text = try seal(#"{"aps":{"alert":"t"},"is_busy":true}"#)
        async let first = device.receive(text)
        async let second = device.receive(picture)
        let (shown, pictured) = await (first, second)
        #expect(shown.isRestored && shown.report?.stageFailures == [])
        #expect(pictured.isRestored && pictured.content?.attachments.count == 1)
        #expect(presentedSeconds(device) == [0, 5])
    }

    @Test func `a stage that fetches files at once takes the longest time, and each file its own`() async throws {
        let times = Locked<[Duration]>([])
        let device = try await device { configuration, device in
            configuration.stages = [Fetching(device: device, times: times)]
        }
        for seconds in [1, 5, 20] { device.network.serve([1], at: "https://a.b/\(seconds)", for: .seconds(seconds)) }
        let reception = await device.receive(try seal())
        #expect(reception.report?.stageFailures == [] && !reception.ranOutOfPatience)
        #expect(times.withLock { $0 } == [.seconds(5), .seconds(6), .seconds(20)] && clock.elapsed == .seconds(20))
    }

    /// Fetches a file of 20 seconds, and meanwhile one of 5 and then one of 1.
    private struct Fetching: ContentStage {
        let device: SimulatedDevice
        let times: Locked<[Duration]>
        let timeLimit: Duration? = nil

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            async let long: Void = fetch(20)
            try await fetch(5)
            try await fetch(1)
            try await long
            return content
        }

        private func fetch(_ seconds: Int) async throws {
            try await device.network.get("https://a.b/\(seconds)") { _ in }
            times.withLock { $0.append(device.clock.elapsed) }
        }
    }

    /// Works, for a payload that says so, until the picture of another push was requested, and longer.
    private struct Busy: ContentStage {
        let network: SimulatedNetwork

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            guard String(decoding: push.payload, as: UTF8.self).contains("is_busy") else { return content }
            while network.requested.isEmpty { await Task.yield() }
            for _ in 1...10_000 { await Task.yield() }
            return content
        }
    }

    /// Receives a push with a picture before the first unlock.
    private func receiveLocked(_ device: SimulatedDevice) async throws -> String {
        device.restart()
        device.network.serve(Self.png, at: "https://example.com/p.png", for: .seconds(2))
        let payload = try seal(#"{"aps":{"alert":"x"},"image_url":"https://example.com/p.png"}"#)
        let reception = await device.receive(payload)
        #expect(reception.failure == .keyLocked)
        device.unlock()
        return try #require(reception.requestID)
    }

    @Test func `the app opens a placeholder whose picture takes time, in the time of the clock`() async throws {
        let device = try await device()
        _ = try await receiveLocked(device)
        let kept = try #require(try device.keptNotifications())
        let outcomes = await kept.open()
        #expect(outcomes.map(\.failure) == [nil] && outcomes.first?.content?.attachments.count == 1)
        #expect(clock.elapsed == .seconds(2))
    }

    @Test func `a tapped placeholder is opened at once, without its picture, and leaves no file`() async throws {
        let app = await Answering(network: nil)
        let device = try await device()
        let id = try await receiveLocked(device)
        device.center.setResponder(app, kept: try device.keptNotifications())
        try await device.center.open(id)
        let isRestored = if case .restored = await app.notifications.first { true } else { false }
        #expect(isRestored)
        #expect(clock.elapsed == .zero && device.network.requested.isEmpty)
        #expect((try? folder.names(in: "attachments")) ?? [] == [])
    }

    /// An app that asks its server before it answers.
    @MainActor private final class Answering: NotificationResponder {
        let network: SimulatedNetwork?
        var notifications: [ReceivedNotification] = []

        init(network: SimulatedNetwork?) { self.network = network }

        private func add(_ notification: ReceivedNotification) async {
            try? await network?.get("https://example.com/settings") { _ in }
            notifications.append(notification)
        }

        func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
            await add(notification)
            return [.banner]
        }

        func received(_ response: ReceivedResponse) async { await add(response.notification) }
    }

    @Test func `an app that asks a slow server before it answers takes the time of the clock`() async throws {
        let device = try await device()
        device.network.serve([1], at: "https://example.com/settings", for: .seconds(3))
        let app = await Answering(network: device.network)
        device.center.setResponder(app)
        let id = try #require(await device.receive(try seal()).requestID)
        try await device.center.open(id)
        #expect(clock.elapsed == .seconds(3))
        _ = await device.receive(try seal())
        #expect(clock.elapsed == .seconds(6) && device.center.presentations.last?.isBanner == true)
        #expect(await app.notifications.count == 2)
    }

    @Test func `an attachment that the system refuses is left out of what the app opens`() async throws {
        let device = try await device { [folder] configuration, _ in
            configuration.stages = [Attaching(folder: folder)]
        }
        device.restart()
        #expect(await device.receive(try seal()).failure == .keyLocked)
        device.unlock()
        let kept = try #require(try device.keptNotifications())
        let outcomes = await kept.open()
        #expect(outcomes.map(\.failure) == [.attachmentFailed] && outcomes.first?.content?.title.literal == "Zoë")
        #expect(outcomes.first?.content?.attachments == [] && outcomes.first?.isRemoved == true)
    }

    private struct Attaching: ContentStage {
        let folder: TemporaryFolder

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = content
            try Data("plain text, long enough".utf8).write(to: folder.file("a.png"))
            content.attachments = [.init(identifier: "a", path: folder.path + "/a.png", type: .png)]
            return content
        }
    }

    @Test func `a locked screen takes the app out of the foreground`() async throws {
        let device = try await device()
        device.center.appState = .foreground
        device.lock()
        #expect(device.center.appState == .background)
        _ = await device.receive(try seal())
        #expect(device.center.presentations.last?.isBanner == true)
    }

    @Test func `a network off line fails at once, and one that goes off line at the transfer's end`() async throws {
        let network = SimulatedNetwork(clock)
        network.serve([1], at: "https://example.com/a", for: .seconds(10))
        _ = clock.schedule(after: .seconds(4)) { network.isOffline = true }
        for elapsed in [10, 10] {
            await #expect(throws: TransferError.self) {
                try await clock.run { try await network.get("https://example.com/a") { _ in } }
            }
            #expect(clock.elapsed == .seconds(elapsed))
        }
    }
}

private struct Signalling: ContentStage {
    let begins: AsyncStream<Void>.Continuation

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        begins.yield()
        return content
    }
}
