import PushCryptSimulator
import Testing

@Suite("pending and delivered notifications") struct ListRecipes {
    private let center = SimulatedNotificationCenter(SimulatedClock())

    init() async throws {
        _ = try await center.requestAuthorization([.alert])
        var content = NotificationContent()
        content.title.literal = "Tea"
        for id in ["a", "b", "c"] {
            try await center.add(NotificationRequest(id: "shown-" + id, content: content))
            try await center.add(
                NotificationRequest(id: id, content: content, trigger: .timeInterval(seconds: 60, repeats: false)))
        }
    }

    @Test("pending notifications are removed by name and all")
    func pending() async throws {
        #expect(await center.pending().map(\.id) == ["a", "b", "c"])
        center.removePending(["b", "unknown"])
        #expect(await center.pending().map(\.id) == ["a", "c"])
        center.removeAllPending()
        #expect(await center.pending().isEmpty && center.deliveredNotifications.count == 3)
    }

    @Test("delivered notifications are removed by name and all")
    func delivered() async throws {
        #expect(await center.delivered().map(\.id) == ["shown-a", "shown-b", "shown-c"])
        center.remove(["shown-a", "unknown"])
        #expect(await center.delivered().map(\.id) == ["shown-b", "shown-c"])
        center.removeAllDelivered()
        #expect(await center.delivered().isEmpty && center.pendingRequests.count == 3)
    }
}
