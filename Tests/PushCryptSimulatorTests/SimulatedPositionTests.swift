import PushCryptSimulator
import Testing

@Suite("regions by name") struct SimulatedPositionTests {
    private let center = SimulatedNotificationCenter(SimulatedClock())

    /// Schedules a notification for a region.
    private func schedule(_ id: String, latitude: Double, longitude: Double = 8.5, radius: Double) async throws {
        _ = try await center.requestAuthorization([.alert])
        var content = NotificationContent()
        content.title.literal = id
        let region = NotificationTrigger.Region(id: id, latitude: latitude, longitude: longitude, radius: radius)
        try await center.add(NotificationRequest(id: id, content: content, trigger: .location(region, repeats: true)))
    }

    private var shown: [String] { center.presentations.map(\.notification.id) }

    @Test(
        "a device enters and leaves a region by its name, anywhere on the earth",
        arguments: [(47.4, 200), (-90, 200), (90, 1), (0, 5_000_000), (89.99, 10_000_000), (-45, 19_000_000)])
    func enterAndLeave(_ latitude: Double, radius: Double) async throws {
        try await schedule("a", latitude: latitude, radius: radius)
        try await center.enterRegion("a")
        #expect(shown == ["a"])
        try await center.leaveRegion("a")
        #expect(shown == ["a", "a"])
    }

    @Test("a device without a position is inside of a region that it leaves") func leavesFirst() async throws {
        try await schedule("a", latitude: 1, radius: 200)
        try await center.leaveRegion("a")
        #expect(shown == ["a"])
    }

    @Test("a region that the device is in can't be entered, and one that it isn't in can't be left")
    func impossible() async throws {
        try await schedule("a", latitude: 1, radius: 200)
        try await center.enterRegion("a")
        await #expect(throws: ResponseError.inRegion) { try await center.enterRegion("a") }
        try await center.leaveRegion("a")
        await #expect(throws: ResponseError.notInRegion) { try await center.leaveRegion("a") }
        await #expect(throws: ResponseError.noRegion) { try await center.enterRegion("b") }
        await #expect(throws: ResponseError.noRegion) { try await center.leaveRegion("b") }
        #expect(shown == ["a", "a"])
    }

    @Test("a region that covers the earth can't be left, nor entered") func everywhere() async throws {
        try await schedule("a", latitude: 1, radius: 30_000_000)
        await #expect(throws: ResponseError.notInRegion) { try await center.leaveRegion("a") }
        await #expect(throws: ResponseError.inRegion) { try await center.enterRegion("a") }
    }

    @Test("other regions on the way are entered and left too, and those that have both places aren't")
    func others() async throws {
        try await schedule("a", latitude: 1, radius: 200)
        try await schedule("near", latitude: 1, radius: 300)
        try await schedule("far", latitude: 1, radius: 1_000)
        try await center.enterRegion("a")
        #expect(shown == ["a", "near"])
        try await center.leaveRegion("a")
        #expect(shown == ["a", "near", "a", "near"])
    }
}
