import Foundation
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@Suite struct SimulatedDeviceTests: DeviceSuite {
    let fixture: DeviceFixture

    init() throws { fixture = try DeviceFixture() }

    @Test func `a sealed push is restored, and shown once`() async throws {
        let device = try await device()
        let payload = try seal()
        let first = await device.receive(payload)
        #expect(first.isRestored && first.content?.title.literal == "Zoë")
        #expect(first.original?.title.literal == "New message")
        let second = await device.receive(payload)
        #expect(second.failure == .replayed && !second.isRestored)
        #expect(device.center.deliveredNotifications.map(\.request.content.title.literal) == ["Zoë", "New message"])
        #expect(device.clock.elapsed == .zero)
    }

    @Test(
        "APNs refuses what it documents",
        arguments: [
            ("", "com.example.app", "alert", nil, PushRefusal.payloadEmpty),
            (#"{"aps":{}}"#, "", "alert", nil, .missingTopic),
            (#"{"aps":{}}"#, "other", "alert", nil, .topicNotForToken),
            (#"{"aps":{}}"#, "com.example.app", "none", nil, .invalidPushType),
            (#"{"aps":{}}"#, "com.example.app", "voip", nil, .topicNotForToken),
            (#"{"aps":{}}"#, "com.example.app.voip", "alert", nil, .topicNotForToken),
            (#"{"aps":{}}"#, "com.example.app", "mdm", nil, .topicNotForToken),
            (#"{"aps":{}}"#, "com.example.app", "alert", String(repeating: "é", count: 33), .badCollapseID),
            ("{", "com.example.app", "alert", nil, .invalidPayload),
            (#"{"aps":1}"#, "com.example.app", "alert", nil, .invalidPayload),
        ])
    func refused(_ payload: String, topic: String, type: String, id: String?, refusal: PushRefusal) async throws {
        let device = try await device()
        let headers = PushHeaders(topic: topic, pushType: type, collapseID: id)
        #expect(await device.receive(Array(payload.utf8), headers).refusal == refusal)
        #expect(device.center.presentations.isEmpty)
    }

    @Test("a payload one byte over the limit is refused", arguments: [("alert", "", 4_096), ("voip", ".voip", 5_120)])
    func limit(_ type: String, suffix: String, limit: Int) async throws {
        let device = try await device()
        let headers = PushHeaders(topic: Self.topic + suffix, pushType: type)
        for (length, refusal) in [(limit, nil), (limit + 1, PushRefusal.payloadTooLarge)] {
            let frame = #"{"aps":{"alert":""}}"#
            let text = String(repeating: "a", count: length - frame.utf8.count)
            let payload = Array(frame.replacing(#""""#, with: #""\#(text)""#).utf8)
            #expect(await device.receive(payload, headers).refusal == refusal)
        }
    }

    @Test func `each push type has its own topic`() async throws {
        let device = try await device()
        for (type, suffix) in [
            ("alert", ""), ("background", ""), ("location", ".location-query"), ("voip", ".voip"),
            ("complication", ".complication"), ("fileprovider", ".pushkit.fileprovider"),
            ("liveactivity", ".push-type.liveactivity"), ("pushtotalk", ".voip-ptt"),
            ("widgets", ".push-type.widgets"), ("controls", ".push-type.controls"),
        ] {
            let payload = Array(#"{"aps":{}}"#.utf8)
            let headers = PushHeaders(topic: Self.topic + suffix, pushType: type)
            #expect(await device.receive(payload, headers).refusal == nil, "\(type)")
            let other = PushHeaders(topic: Self.topic + suffix + ".x", pushType: type)
            #expect(await device.receive(payload, other).refusal == .topicNotForToken, "\(type)")
        }
    }

    @Test func `of a deleted app nothing stays, a kept push isn't shown, and the next is Unregistered`() async throws {
        let starts = Locked(0)
        let device = try await device { _, _ in starts.withLock { $0 += 1 } }
        _ = await device.receive(Array(#"{"aps":{"alert":"x","badge":3}}"#.utf8))
        device.goOffline()
        #expect(await device.receive(try seal()).isStored)
        let before = starts.withLock { $0 }
        device.deleteApp()
        #expect(await device.goOnline() == nil)
        #expect(device.center.deliveredNotifications.isEmpty && device.center.badge == 0)
        #expect(device.center.currentSettings == NotificationSettings() && starts.withLock { $0 } == before)
        #expect(await device.receive(try seal()).refusal == .unregistered)
    }

    @Test func `without mutable-content, an extension or permission no extension runs`() async throws {
        let plain = Array(#"{"aps":{"alert":"x"}}"#.utf8)
        let reception = await (try device()).receive(plain)
        #expect(reception.presentation?.origin == .notRun && reception.content?.body.literal == "x")
        let bare = SimulatedDevice(topic: Self.topic, clock: clock, extension: nil)
        #expect(await bare.receive(try seal()).presentation?.origin == .notAllowed)
        _ = try await bare.center.requestAuthorization([.alert])
        let original = await bare.receive(try seal())
        #expect(original.presentation?.origin == .notRun && original.content?.title.literal == "New message")
        #expect(await bare.receive(Array(#"{"aps":{"content-available":1}}"#.utf8)).presentation == nil)
    }

    @Test("a push without permission for alerts runs no extension, and sets badge and sound", arguments: [false, true])
    func alertsDisabled(isHiddenEverywhere: Bool) async throws {
        let device = try await device()
        device.center.changeSettings { settings in
            if !isHiddenEverywhere { settings.allowed = [.sound, .badge] }
            (settings.showsBanners, settings.showsInList, settings.showsOnLockScreen) = (false, false, false)
        }
        let payload = #"{"aps":{"alert":"x","badge":2,"sound":"default","mutable-content":1}}"#
        let reception = await device.receive(Array(payload.utf8))
        #expect(reception.presentation?.origin == .notAllowed && reception.report == nil)
        #expect(reception.content == nil && reception.original?.body.literal == "x")
        let presented = try #require(device.center.presentations.last)
        #expect(!presented.isBanner && !presented.isListed)
        #expect(presented.badge == 2 && presented.sound?.name == "default")
    }

    @Test func `a receipt is posted after the notification is shown, in the time of the clock`() async throws {
        let device = try await device { configuration, device in
            configuration.receipts = try? ReceiptPosting(
                to: "https://example.com/r", transport: device.network, delay: .init { .seconds(4) })
        }
        device.network.delay = .seconds(3)
        #expect(await device.receive(try seal()).isRestored)
        #expect(presentedSeconds(device) == [0])
        #expect(device.network.posts.count == 1 && clock.elapsed == .seconds(7))
    }

    @Test func `a receipt that the process can't post in time stays in the store, and the app sends it`() async throws {
        let device = try await device { configuration, device in
            configuration.receipts = try? ReceiptPosting(to: "https://example.com/r", transport: device.network)
        }
        device.network.delay = .seconds(11)
        #expect(await device.receive(try seal()).isRestored)
        #expect(device.network.posts.isEmpty && clock.elapsed == .seconds(10))
        device.network.delay = .zero
        let sender = ReceiptSender(
            store: SharedStore(folder: folder.path + "/store", role: .app),
            posting: try ReceiptPosting(to: "https://example.com/r", transport: device.network), clock: { clock.time })
        #expect(try await sender.flush().sentCount == 1)
        #expect(device.network.posts.count == 1)
    }

    @Test func `an address with http is refused, and not requested`() async throws {
        let device = try await device()
        device.network.serve(Self.png, at: "http://example.com/p.png")
        let payload = try seal(#"{"aps":{"alert":"x"},"image_url":"http://example.com/p.png"}"#)
        let reception = await device.receive(payload)
        #expect(reception.failure == .attachmentFailed && reception.content?.body.literal == "x")
        #expect(device.network.requested.isEmpty)
    }

    @Test func `a push with a badge and a sound, and without text, sets them and runs no extension`() async throws {
        let device = try await device()
        for badge in [5, 0] {
            let payload = #"{"aps":{"badge":\#(badge),"sound":"ping.caf","mutable-content":1}}"#
            let reception = await device.receive(Array(payload.utf8))
            #expect(reception.presentation == nil && reception.report == nil)
            #expect(device.center.badge == badge)
            #expect(device.center.presentations.last?.sound?.name == "ping.caf")
        }
        #expect(device.center.deliveredNotifications.isEmpty)
    }

    private static let deadlines: [(Int?, SimulatedDevice.Options, Int)] = [
        (nil, .init(), 25), (300, .init(), 29),
        (300, options { ($0.timeLimit, $0.grace) = (.seconds(20), .seconds(5)) }, 15),
    ]

    @Test("a stage of a minute ends at the session's deadline or with the extension's warning", arguments: deadlines)
    func warned(_ deadline: Int?, _ options: SimulatedDevice.Options, _ elapsed: Int) async throws {
        let device = try await device(options) { configuration, device in
            if let deadline { configuration.deadline = .seconds(deadline) }
            configuration.stages = [Waiting(clock: device.clock, duration: .seconds(60))]
        }
        let reception = await device.receive(try seal())
        #expect(reception.isRestored && reception.content?.title.literal == "Zoë")
        #expect(clock.elapsed == .seconds(elapsed))
    }

    @Test func `pushes that follow each other run in one process`() async throws {
        let starts = Locked(0)
        let device = try await device { _, _ in starts.withLock { $0 += 1 } }
        for _ in 1...3 { #expect(await device.receive(try seal()).isRestored) }
        #expect(starts.withLock { $0 } == 1)
    }

    @Test func `a process that ends during a push shows the original, and the next push starts another`() async throws {
        let starts = Locked(0)
        let device = try await device { configuration, device in
            starts.withLock { $0 += 1 }
            guard starts.withLock({ $0 }) == 1 else { return }
            configuration.stages = [Waiting(clock: device.clock, duration: .seconds(10))]
        }
        _ = clock.schedule(after: .seconds(5)) { device.endExtensionProcess() }
        let first = await device.receive(try seal())
        #expect(first.presentation?.origin == .died && first.content?.title.literal == "New message")
        #expect(await device.receive(try seal()).isRestored)
        #expect(starts.withLock { $0 } == 2)
    }

    @Test func `a download goes on beside a scheduled notification, and after a process that ended`() async throws {
        let device = try await device()
        device.network.serve([UInt8]("GIF89a0123456789".utf8), at: "https://example.com/p", for: .seconds(5))
        _ = clock.schedule(after: .seconds(3)) { device.endExtensionProcess() }
        let json = #"{"aps":{"alert":"x"},"image_url":"https://example.com/p"}"#
        #expect(await device.receive(try seal(json)).presentation?.origin == .died)
        #expect(clock.elapsed == .seconds(3))
        var content = NotificationContent()
        content.title.literal = "Tea"
        try await device.center.add(
            NotificationRequest(id: "tea", content: content, trigger: .timeInterval(seconds: 4, repeats: false)))
        let reception = await device.receive(try seal(json))
        #expect(reception.isRestored && reception.content?.attachments.count == 1)
        await device.center.settle()
        #expect(clock.elapsed == .seconds(8))
        #expect(presentedSeconds(device).sorted() == [3, 7, 8])
    }

    @Test func `before the first unlock a push is keyLocked, and afterwards pushes open`() async throws {
        let device = try await device()
        device.restart()
        let reception = await device.receive(try seal())
        #expect(reception.failure == .keyLocked && reception.content?.title.literal == "New message")
        device.unlock()
        #expect(await device.receive(try seal()).isRestored)
    }

    @Test(
        "off line, APNs keeps the last push until it expires, and for 30 days at most",
        arguments: [
            ([nil, 7_200], 3_600, "2"), ([nil, 60], 3_600, nil), ([nil, 0], 3_600, "1"),
            ([nil], 30 * 86_400 - 1, "1"), ([nil], 30 * 86_400, nil), ([60 * 86_400], 30 * 86_400, nil),
        ] as [([Int64?], Int64, String?)])
    func offline(_ lifetimes: [Int64?], seconds: Int64, title: String?) async throws {
        let device = try await device()
        device.goOffline()
        for (index, lifetime) in lifetimes.enumerated() {
            let payload = #"{"aps":{"alert":{"title":"\#(index + 1)"}}}"#
            let expiration = lifetime.map { $0 == 0 ? UnixTime(0) : clock.time + $0 }
            let headers = PushHeaders(topic: Self.topic, expiration: expiration)
            #expect(await device.receive(Array(payload.utf8), headers).isStored == (lifetime != 0))
        }
        clock.advance(by: .seconds(seconds))
        #expect(await device.goOnline()?.content?.title.literal == title)
    }

    @Test func `with the option all, APNs keeps each push, and a collapse id replaces an earlier one`() async throws {
        #expect(SimulatedDevice.Options().storage == .last)
        let device = try await device(Self.options { $0.storage = .all })
        device.goOffline()
        for (title, lifetime, id) in [("1", nil, "c"), ("2", 60, nil), ("3", nil, nil), ("4", nil, "c"), ("5", 0, nil)]
            as [(String, Int64?, String?)]
        {
            let expiration = lifetime.map { $0 == 0 ? UnixTime(0) : clock.time + $0 }
            let headers = PushHeaders(topic: Self.topic, expiration: expiration, collapseID: id)
            let payload = #"{"aps":{"alert":{"title":"\#(title)"}}}"#
            #expect(await device.receive(Array(payload.utf8), headers).isStored == (lifetime != 0))
        }
        clock.advance(by: .seconds(3_600))
        #expect(await device.goOnlineReceivingAll().map { $0.content?.title.literal } == ["3", "4"])
        #expect(await device.goOnlineReceivingAll().isEmpty)
    }

    /// Waits for something that the simulated clock doesn't know, and ignores that it is cancelled.
    private struct Stuck: ContentStage {
        let waiting: Locked<[CheckedContinuation<Void, Never>]>

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            await withCheckedContinuation { continuation in waiting.withLock { $0.append(continuation) } }
            return content
        }
    }

    @Test func `a stage that never ends is left behind after the patience, and the reception names it`() async throws {
        #expect(SimulatedDevice.Options().patience == .seconds(10))
        let options = Self.options { $0.patience = .seconds(1) }
        let waiting = Locked<[CheckedContinuation<Void, Never>]>([])
        let device = try await device(options) { configuration, _ in configuration.stages = [Stuck(waiting: waiting)] }
        let reception = await device.receive(try seal())
        #expect(reception.isRestored && reception.ranOutOfPatience && reception.content?.title.literal == "Zoë")
        #expect(reception.report?.stageFailures == [StageFailure(stage: "Stuck", ending: .timedOut)])
        #expect(
            reception.description
                == "restored: stage Stuck timedOut; code waited for something other than the simulated clock")
        for continuation in waiting.withLock({ $0 }) { continuation.resume() }
    }

    @Test func `a reception describes what became of a push, and neither its content nor its bytes`() async throws {
        let device = try await device()
        let restored = await device.receive(try seal())
        #expect(!restored.ranOutOfPatience && "\(restored)" == "restored")
        let refused = await device.receive(Array("{".utf8))
        #expect(refused.description.hasPrefix("refused: 400"))
        let silent = await device.receive(Array(#"{"aps":{}}"#.utf8))
        #expect(silent.description == "nothing is shown: the push has no alert")
        let background = await device.receive(
            Array(#"{"aps":{"alert":"x"}}"#.utf8), PushHeaders(topic: Self.topic, pushType: "background"))
        #expect(background.description == "nothing is shown: the push type is background")
        device.restart()
        #expect(await device.receive(try seal()).description == "placeholder is shown: keyLocked")
        device.goOffline()
        let stored = await device.receive(try seal())
        #expect(stored.description == "stored by APNs")
        let dropped = await device.receive(try seal(), PushHeaders(topic: Self.topic, expiration: UnixTime(0)))
        #expect(dropped.description == "dropped by APNs: the device is off line, and the push isn't stored")
        var dumped = ""
        dump(restored, to: &dumped)
        #expect(!dumped.contains("Zoë") && dumped.count < 100)
    }

    private struct SuppressingStage: ContentStage {
        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = content
            content.isSuppressed = true
            return content
        }
    }

    @Test("a suppressed push shows nothing with the entitlement, and its text without", arguments: [true, false])
    func suppressed(isEntitled: Bool) async throws {
        let device = try await device(Self.options { $0.hasFilteringEntitlement = isEntitled }) { configuration, _ in
            configuration.hasFilteringEntitlement = isEntitled
            configuration.stages = [SuppressingStage()]
        }
        let reception = await device.receive(try seal())
        #expect((reception.presentation?.origin == .suppressed) == isEntitled)
        #expect((reception.content?.body.literal == "Hi") == !isEntitled)
    }

    @Test func `a notification has its request's number, also after a refused one and airplane mode`() async throws {
        let device = try await device()
        let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
        _ = await device.receive([])
        #expect(await device.receive(payload).requestID == "push-2")
        device.goOffline()
        #expect(await device.receive(payload).isStored)
        #expect(await device.goOnline()?.requestID == "push-3")
        #expect(await device.receive(payload).requestID == "push-4")
    }

    private struct Decoder: ContentStage {
        let device: SimulatedDevice
        let byteCount: Int

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            device.memory.use(byteCount)
            defer { device.memory.release(byteCount) }
            return content
        }
    }

    @Test(
        "a stage that uses the limit is shown, and with one byte more the process ends and the original is shown",
        arguments: [(1_000, PresentedContent.Origin.handedOver), (1_001, .died)])
    func memoryLimit(_ byteCount: Int, origin: PresentedContent.Origin) async throws {
        let device = try await device(Self.options { $0.memoryLimitInBytes = 1_000 }) { configuration, device in
            configuration.stages = [Decoder(device: device, byteCount: byteCount)]
        }
        let payload = try seal()
        let reception = await device.receive(payload)
        #expect(reception.presentation?.origin == origin)
        #expect(reception.content?.title.literal == (origin == .died ? "New message" : "Zoë"))
        #expect(device.memory.peakInBytes == byteCount)
    }

    private struct ReportStream: DeliveryReporter {
        let continuation: AsyncStream<DeliveryReport>.Continuation

        func report(_ report: DeliveryReport) { continuation.yield(report) }
    }

    @Test func `a session that runs on after its process has ended counts no push in the store`() async throws {
        let options = Self.options { $0.memoryLimitInBytes = 1_000 }
        let (reports, continuation) = AsyncStream.makeStream(of: DeliveryReport.self)
        let phone = try await TestDevice(topic: Self.topic, options: options) { configuration, device in
            configuration.stages = [Decoder(device: device, byteCount: 1_001)]
            configuration.diagnostics = ReportStream(continuation: continuation)
        }
        let push = try Sealer(topic: Self.topic).seal(
            PushNotification(title: "Zoë"), to: Recipient(jwk: phone.registration), placeholder: .standard)
        #expect(await phone.receive(push.json).presentation?.origin == .died)
        _ = await reports.first { _ in true }
        #expect(try phone.store.statistics().opened == nil)
    }

    @Test func `a picture uses a piece of 64 KiB at a time, whatever its size`() async throws {
        let device = try await device()
        device.network.serve(Self.png + [UInt8](repeating: 0, count: 1 << 20), at: "https://example.com/p.png")
        let payload = try seal(#"{"aps":{"alert":"x"},"image_url":"https://example.com/p.png"}"#)
        #expect(await device.receive(payload).content?.attachments.count == 1)
        #expect(device.memory.peakInBytes == 64 << 10 && device.memory.usedInBytes == 0)
    }

    @Test(
        "a process that the system ends during a download shows the original, and one that it ends afterwards doesn't matter",
        arguments: [(Duration.zero, "New message"), (.seconds(3), "New message"), (.seconds(10), "Zoë")])
    func endedProcess(_ time: Duration, title: String) async throws {
        let device = try await device(Self.options { $0.endsProcessAfter = time })
        device.network.serve(Self.png, at: "https://example.com/p.png", for: .seconds(5))
        let payload = try seal(#"{"aps":{"alert":{"title":"Zoë"}},"image_url":"https://example.com/p.png"}"#)
        #expect(await device.receive(payload).content?.title.literal == title)
    }
}
