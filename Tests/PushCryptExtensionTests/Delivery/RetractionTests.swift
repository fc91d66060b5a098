import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// What is shown of retracted, quiet and suppressed pushes.
@Suite struct RetractionTests {
    private let folder: StoreFolder
    private let store: SharedStore
    private let screen = Screen()

    init() throws {
        folder = try StoreFolder()
        store = folder.store()
    }

    private final class Screen: DeliveredNotifications {
        let removed = Locked<[String]>([])
        func remove(_ requestIDs: [String]) { removed.withLock { $0 += requestIDs } }
    }

    private func deliver(
        _ payload: [UInt8], _ requestID: String, isEntitled: Bool = false,
        _ change: (inout ExtensionConfiguration) -> Void = { _ in }
    ) async throws -> DeliverySession.Delivery {
        var configuration = try ExtensionConfiguration.test(key: "shared")
        configuration.memory = store
        configuration.deliveredNotifications = screen
        configuration.hasFilteringEntitlement = isEntitled
        change(&configuration)
        let ended = Signal()
        struct Ended: DeliveryReporter {
            let signal: Signal
            func report(_ report: DeliveryReport) { signal.give() }
        }
        configuration.diagnostics = Ended(signal: ended)
        let final = configuration
        let delivery = await withCheckedContinuation { continuation in
            DeliverySession(payload: payload, requestID: requestID, configuration: final) {
                continuation.resume(returning: $0)
            }.start()
        }
        await ended.wait()
        return delivery
    }

    private func push(_ options: Sealer.Options = Sealer.Options()) throws -> (payload: [UInt8], id: String) {
        let json = #"{"aps":{"alert":{"title":"Zoë"},"sound":"default"}}"#
        let payload = try TestPush(key: "shared", json: json, options: options).sealed()
        return (payload, try TestPush.open(payload, key: "shared").get().messageID)
    }

    @Test("a retraction removes the notification that shows its message, and is shown itself")
    func removes() async throws {
        let first = try push()
        _ = try await deliver(first.payload, "A")
        let retraction = try push(Sealer.Options(retractedIDs: [first.id]))
        #expect(try await deliver(retraction.payload, "R").failure == nil)
        #expect(screen.removed.withLock { $0 } == ["A"])
    }

    @Test(
        "a message that comes after its retraction shows no text, and is removed or suppressed",
        arguments: [false, true])
    func late(_ isEntitled: Bool) async throws {
        let late = try push()
        _ = try await deliver(try push(Sealer.Options(retractedIDs: [late.id])).payload, "R")
        for (request, policy) in [("A", ExtensionConfiguration.ReplayPolicy.placeholder), ("B", .passive)] {
            let delivery = try await deliver(late.payload, request, isEntitled: isEntitled) { $0.replays = policy }
            #expect(delivery.failure == .retracted && !delivery.isRestored)
            #expect(delivery.isSuppressed == isEntitled)
            #expect(delivery.content.title.literal != "Zoë" && delivery.content.hasText != isEntitled)
            if !isEntitled {
                #expect(delivery.content.sound == nil && delivery.content.interruptionLevel == "passive")
            }
        }
        // The last one is removed right after it was handed over, without a further run.
        #expect(screen.removed.withLock { $0 }.contains("B") == !isEntitled)
        #expect(try store.statistics().failures[.retracted]?.count == 2)
    }

    @Test("a message that is retracted while its stage runs isn't shown", arguments: [false, true])
    func duringStage(_ isEntitled: Bool) async throws {
        struct Retracting: ContentStage {
            let body: @Sendable () throws -> Void
            func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
                try body()
                return content
            }
        }
        let message = try push()
        let delivery = try await deliver(message.payload, "A", isEntitled: isEntitled) {
            $0.stages = [Retracting { [folder] in try folder.retract(message.id) }]
        }
        #expect(delivery.failure == .retracted && delivery.isSuppressed == isEntitled)
        #expect(delivery.content.title.literal != "Zoë")
        #expect(try store.statistics().opened == nil)
    }

    @Test("a message that is retracted while it is handed over is removed from the screen")
    func duringHandOver() async throws {
        let message = try push()
        let ended = Signal()
        struct Ended: DeliveryReporter {
            let signal: Signal
            func report(_ report: DeliveryReport) { signal.give() }
        }
        var configuration = try ExtensionConfiguration.test(key: "shared")
        configuration.memory = store
        configuration.deliveredNotifications = screen
        configuration.diagnostics = Ended(signal: ended)
        DeliverySession(payload: message.payload, requestID: "A", configuration: configuration) { [folder] _ in
            try? folder.retract(message.id)
        }.start()
        await ended.wait()
        #expect(screen.removed.withLock { $0 } == ["A"])
    }

    @Test(
        "a quiet push is suppressed with the entitlement, and passive without sound otherwise",
        arguments: [false, true])
    func quiet(_ isEntitled: Bool) async throws {
        let delivery = try await deliver(
            try push(Sealer.Options(isQuiet: true)).payload, "Q", isEntitled: isEntitled)
        #expect(delivery.isSuppressed == isEntitled && delivery.isRestored && delivery.failure == nil)
        #expect(delivery.content.hasText != isEntitled && delivery.content.sound == nil)
        #expect(delivery.content.interruptionLevel == (isEntitled ? nil : "passive"))
        #expect(try store.statistics().suppressed?.count == (isEntitled ? 1 : nil))
    }

    private struct Muted: ContentStage {
        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = content
            content.isSuppressed = true
            return content
        }
    }

    @Test("a stage suppresses a push of an entitled app only", arguments: [false, true])
    func stage(_ isEntitled: Bool) async throws {
        let delivery = try await deliver(try push().payload, "A", isEntitled: isEntitled) { $0.stages = [Muted()] }
        #expect(delivery.isSuppressed == isEntitled && delivery.content.hasText != isEntitled)
    }

    @Test("a repeat is suppressed by the app's choice, and a failure never is", arguments: [false, true])
    func replay(_ isEntitled: Bool) async throws {
        let payload = try push().payload
        _ = try await deliver(payload, "A")
        let again = try await deliver(payload, "B", isEntitled: isEntitled) { $0.replays = .suppressed }
        #expect(again.failure == .replayed && again.isSuppressed == isEntitled)
        let failed = try await deliver(Array("{}".utf8), "C", isEntitled: true) {
            $0.replays = .suppressed
            $0.stages = [Muted()]
        }
        #expect(!failed.isSuppressed && failed.content.hasText)
    }

    @Test("a placeholder for a failure is never empty, even if it asks to be suppressed by an entitled app")
    func failure() throws {
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
        #expect(try await deliver(try push(one).payload, "A").content.badge == 1)
        struct Counting: ContentStage {
            let store: SharedStore
            func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
                try store.setBadge(8)
                return content
            }
        }
        let delivery = try await deliver(try push(one).payload, "B") { [folder] in
            $0.stages = [Counting(store: folder.store(.app))]
        }
        #expect(delivery.content.badge == 8)
    }
}

extension StoreFolder {
    /// Retracts a message as another process does.
    fileprivate func retract(_ id: String) throws {
        let id = try #require(Base64URL.decode(Array(id.utf8)[...]))
        var stamp = MessageStamp(name: "retraction", issuedAt: TestPush.now, expiresAt: TestPush.now + 60)
        (stamp.profile, stamp.effects) = (
            3, MessageEffects(retractedNames: [try MessageSender.unnamed.name(ofMessage: id)])
        )
        _ = try store().claimInFile(stamp, at: TestPush.now.seconds)
    }
}
