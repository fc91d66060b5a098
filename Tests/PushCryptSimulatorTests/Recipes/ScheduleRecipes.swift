import Foundation
import PushCryptSimulator
import Testing

@Suite("scheduled notifications") struct ScheduleRecipes {
    private let clock: SimulatedClock
    private let center: SimulatedNotificationCenter

    init() async throws {
        let noon = try Date("2027-03-27T12:00:00Z", strategy: .iso8601)
        clock = SimulatedClock(startingAt: UnixTime(Int64(noon.timeIntervalSince1970)))
        let zone = try #require(TimeZone(identifier: "Europe/Zurich"))
        center = SimulatedNotificationCenter(clock, calendar: GregorianCalendar(timeZone: zone))
        _ = try await center.requestAuthorization([.alert])
    }

    private func add(_ id: String, _ trigger: NotificationTrigger) async throws {
        var content = NotificationContent()
        content.title.literal = id
        try await center.add(NotificationRequest(id: id, content: content, trigger: trigger))
    }

    @Test("a repeating interval is shown again and again, and needs 60 seconds or more")
    func interval() async throws {
        await #expect(throws: NotificationError.self) {
            try await add("fast", .timeInterval(seconds: 59, repeats: true))
        }
        try await add("minute", .timeInterval(seconds: 60, repeats: true))
        clock.advance(by: .seconds(180))
        await center.settle()
        #expect(center.presentations.map(\.notification.id) == ["minute", "minute", "minute"])
        #expect(center.pendingRequests.map(\.id) == ["minute"])
    }

    @Test("a daily reminder keeps its local time when summer time begins")
    func summerTime() async throws {
        try await add("breakfast", .calendar(CalendarMatch(hour: 8, minute: 30), repeats: true))
        var times: [String] = []
        for _ in 1...2 {
            let next = try #require(center.nextTime(of: "breakfast"))
            times.append(Date(timeIntervalSince1970: TimeInterval(next.seconds)).formatted(.iso8601))
            clock.advance(by: .seconds(next.seconds - clock.time.seconds))
            await center.settle()
        }
        // Zurich's clocks go forward on 28 March 2027 at 01:00 UTC.
        #expect(times == ["2027-03-28T06:30:00Z", "2027-03-29T06:30:00Z"])
        #expect(center.presentations.count == 2)
    }

    @Test("a region is shown when the phone enters it")
    func region() async throws {
        let office = NotificationTrigger.Region(
            id: "office", latitude: 47.3769, longitude: 8.5417, radius: 200, notifiesOnExit: false)
        try await add("office", .location(office, repeats: true))
        for position in [(47.40, 8.60), (47.3770, 8.5417), (47.40, 8.60)] {
            await center.move(to: Position(latitude: position.0, longitude: position.1))
        }
        #expect(center.presentations.map(\.notification.id) == ["office"])
    }

    @Test("a picture of the app's bundle is shown, and stays in the bundle")
    func bundledPicture() async throws {
        let bundle = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: bundle) }
        let file = bundle.appendingPathComponent("logo.gif").path
        try Data(picture).write(to: URL(fileURLWithPath: file))
        center.bundlePath = bundle.path
        var content = NotificationContent()
        content.title.literal = "Welcome"
        content.attachments = [.init(identifier: "logo", path: file, type: nil)]
        try await center.add(NotificationRequest(id: "welcome", content: content))
        let shown = try #require(center.deliveredNotifications.first?.request.content.attachments.first)
        #expect(center.file(shown.path) == picture && FileManager.default.fileExists(atPath: file))
    }
}
