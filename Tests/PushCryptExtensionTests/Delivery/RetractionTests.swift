import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// What is shown of retracted, quiet and suppressed pushes.
@Suite struct RetractionTests {
    private let folder = StoreFolder()
    private var store: SharedStore { folder.first }
    private let screen = RecordingScreen()

    private func show(
        _ payload: [UInt8], _ requestID: String, isEntitled: Bool = false,
        _ change: (inout ExtensionConfiguration) -> Void = { _ in }
    ) async throws -> DeliverySession.Delivery {
        try await deliver(payload, key: "shared", requestID: requestID) { configuration in
            configuration.store = store
            configuration.deliveredNotifications = screen
            configuration.hasFilteringEntitlement = isEntitled
            change(&configuration)
        }
    }

    private func push(_ options: Sealer.Options = Sealer.Options()) throws -> (payload: [UInt8], id: String) {
        let json = #"{"aps":{"alert":{"title":"Zoë"},"sound":"default"}}"#
        let push = try TestPush(key: "shared", json: json, options: options).seal()
        return (push.bytes, push.id)
    }

    @Test("a retraction removes the notification that shows its message, and is shown itself")
    func removes() async throws {
        let first = try push()
        _ = try await show(first.payload, "A")
        let retraction = try push(Sealer.Options(retractedIDs: [first.id]))
        #expect(try await show(retraction.payload, "R").failure == nil)
        #expect(screen.removed == ["A"])
    }

    @Test("a message after its retraction shows no text, and is removed or suppressed", arguments: [false, true])
    func late(_ isEntitled: Bool) async throws {
        let late = try push()
        _ = try await show(try push(Sealer.Options(retractedIDs: [late.id])).payload, "R")
        for (request, policy) in [("A", ExtensionConfiguration.ReplayPolicy.placeholder), ("B", .passive)] {
            let delivery = try await show(late.payload, request, isEntitled: isEntitled) { $0.replays = policy }
            #expect(delivery.failure == .retracted && !delivery.isRestored)
            #expect(delivery.isSuppressed == isEntitled)
            #expect(delivery.content.title.literal != "Zoë" && delivery.content.hasText != isEntitled)
            if !isEntitled {
                #expect(delivery.content.sound == nil && delivery.content.interruptionLevel == "passive")
            }
        }
        // The last one is removed right after it was handed over, without a further run.
        #expect(screen.removed.contains("B") == !isEntitled)
        #expect(try store.statistics().failures[.retracted]?.count == 2)
    }

    @Test("a message that is retracted while its stage runs isn't shown", arguments: [false, true])
    func duringStage(_ isEntitled: Bool) async throws {
        let message = try push()
        let delivery = try await show(message.payload, "A", isEntitled: isEntitled) {
            $0.stages = [TestStage { [folder] _ in try folder.retract(message.id) }]
        }
        #expect(delivery.failure == .retracted && delivery.isSuppressed == isEntitled)
        #expect(delivery.content.title.literal != "Zoë")
        #expect(try store.statistics().opened == nil)
    }

    @Test("a message that is retracted while it is handed over is removed from the screen")
    func duringHandOver() async throws {
        let (message, reporter) = (try push(), RecordingReporter())
        var configuration = try ExtensionConfiguration.test(key: "shared")
        configuration.store = store
        configuration.deliveredNotifications = screen
        configuration.diagnostics = reporter
        DeliverySession(payload: message.payload, requestID: "A", configuration: configuration) { [folder] _ in
            try? folder.retract(message.id)
        }.start()
        await reporter.reported.wait()
        #expect(screen.removed == ["A"])
    }

    @Test("a quiet push is suppressed if the app is entitled, and passive otherwise", arguments: [false, true])
    func quiet(_ isEntitled: Bool) async throws {
        let delivery = try await show(try push(Sealer.Options(isQuiet: true)).payload, "Q", isEntitled: isEntitled)
        #expect(delivery.isSuppressed == isEntitled && delivery.isRestored && delivery.failure == nil)
        #expect(delivery.content.hasText != isEntitled && delivery.content.sound == nil)
        #expect(delivery.content.interruptionLevel == (isEntitled ? nil : "passive"))
        #expect(try store.statistics().suppressed?.count == (isEntitled ? 1 : nil))
    }

    private static let muted = TestStage { $0.isSuppressed = true }

    @Test("a stage and the app's choice for repeats suppress a push of an entitled app only", arguments: [false, true])
    func suppressed(_ isEntitled: Bool) async throws {
        let payload = try push().payload
        let first = try await show(payload, "A", isEntitled: isEntitled) { $0.stages = [Self.muted] }
        #expect(first.isSuppressed == isEntitled && first.content.hasText != isEntitled)
        let again = try await show(payload, "B", isEntitled: isEntitled) { $0.replays = .suppressed }
        #expect(again.failure == .replayed && again.isSuppressed == isEntitled)
    }

    @Test("a failure is never suppressed or shown empty, even if its placeholder asks an entitled app for it")
    func failure() async throws {
        let failed = try await show(Array("{}".utf8), "C", isEntitled: true) {
            ($0.replays, $0.stages) = (.suppressed, [Self.muted])
        }
        #expect(!failed.isSuppressed && failed.content.hasText)
        var configuration = try ExtensionConfiguration.test(key: "shared")
        configuration.hasFilteringEntitlement = true
        var content = NotificationContent()
        (content.title.literal, content.isSuppressed) = ("New message", true)
        for failure in [FailureClass.undecryptable, .expired, .timedOut, .keyLocked] {
            let delivery = DeliverySession.Delivery(
                content: content, isRestored: false, failure: failure, stageFailures: [])
            let shown = configuration.shown(delivery, .everything)
            #expect(!shown.isSuppressed && shown.content.title.literal == "New message")
        }
    }

    @Test("increments are shown as the counted number, also one that was counted while another push was restored")
    func badge() async throws {
        let one = Sealer.Options(badgeIncrement: 1)
        #expect(try await show(try push(one).payload, "A").content.badge == 1)
        let delivery = try await show(try push(one).payload, "B") {
            $0.stages = [TestStage { [store = folder.store(.app)] _ in try store.setBadge(8) }]
        }
        #expect(delivery.content.badge == 8)
    }
}

extension StoreFolder {
    /// Retracts a message as another process does.
    fileprivate func retract(_ id: String) throws {
        let id = try #require(Base64URL.decode(Array(id.utf8)[...]))
        var stamp = MessageStamp(name: "retraction", issuedAt: TestPush.now, expiresAt: TestPush.now + 60)
        stamp.profile = 3
        stamp.effects = MessageEffects(retractedNames: [try MessageSender.unnamed.name(ofMessage: id)])
        _ = try store().claimInFile(stamp, at: TestPush.now.seconds)
    }
}
