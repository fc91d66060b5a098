import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// The app of the tests: it remembers what it was asked.
@MainActor private final class App: NotificationResponder {
    var presented: [ReceivedNotification] = []
    var responses: [ReceivedResponse] = []
    var options: PresentationOptions = [.banner, .list, .sound, .badge]

    func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
        presented.append(notification)
        return options
    }

    func received(_ response: ReceivedResponse) async { responses.append(response) }

    /// The names of the notifications from which the user asked for the settings; nil for the Settings app.
    var settings: [String?] = []

    func openSettings(from notification: ReceivedNotification?) async {
        if case .local(let request) = notification { settings.append(request.id) } else { settings.append(nil) }
    }
}

@MainActor @Suite struct SimulatedNotificationCenterTests {
    private let clock = SimulatedClock(startingAt: UnixTime(1_800_000_000))
    private let center: SimulatedNotificationCenter
    private let app = App()

    init() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Zurich"))
        center = SimulatedNotificationCenter(clock, calendar: GregorianCalendar(timeZone: zone))
        center.setResponder(app)
    }

    private func content(_ title: String, _ change: (inout NotificationContent) -> Void = { _ in })
        -> NotificationContent
    {
        var content = NotificationContent()
        content.title.literal = title
        change(&content)
        return content
    }

    private func allow(_ options: NotificationOptions = [.alert, .sound, .badge]) async throws {
        #expect(try await center.requestAuthorization(options))
    }

    // MARK: Authorization

    @Test("the user is asked once, and later requests return the answer")
    func asked() async throws {
        #expect(await center.settings() == NotificationSettings())
        #expect(try await center.requestAuthorization([.alert, .sound]))
        #expect(try await center.requestAuthorization([.alert]))
        #expect(try await !center.requestAuthorization([.badge]))
        #expect(center.questionCount == 1)
        let settings = await center.settings()
        #expect(settings.authorization == .authorized && settings.allowed == [.alert, .sound])
        #expect(settings.showsOnLockScreen && settings.showsBanners && settings.showsInList)
    }

    @Test(
        "after a refusal nothing can be scheduled, nothing is presented, and the user isn't asked again until the settings change"
    )
    func denied() async throws {
        let center = SimulatedNotificationCenter(clock, answer: { _ in false })
        #expect(try await !center.requestAuthorization([.alert]))
        #expect(try await !center.requestAuthorization([.alert]))
        #expect(center.questionCount == 1)
        let error = await #expect(throws: NotificationError.self) {
            try await center.add(NotificationRequest(id: "1", content: content("a")))
        }
        #expect(error?.code == .notAllowed)
        await #expect(throws: NotificationError.self) { try await center.setBadgeCount(1) }
        center.allowInSettings()
        #expect(await center.settings().showsBanners && center.currentSettings.allowed == [.alert])
        center.changeSettings { settings in
            settings.authorization = .authorized
            settings.allowed = [.alert]
            settings.showsInList = true
        }
        try await center.add(NotificationRequest(id: "1", content: content("a")))
        #expect(center.deliveredNotifications.map(\.id) == ["1"])
    }

    @Test("the switch in the settings allows what the app has asked for, and does nothing before a question")
    func allowedInSettings() async throws {
        center.allowInSettings()
        #expect(center.currentSettings == NotificationSettings())
        center.changeSettings { $0.previews = .never }
        try await allow([.alert, .badge, .provisional])
        center.allowInSettings()
        let settings = center.currentSettings
        #expect(settings.authorization == .authorized && settings.allowed == [.alert, .badge])
        #expect(settings.showsOnLockScreen && settings.showsInList && settings.previews == .never)
    }

    @Test("a negative badge of the app is invalidContent, and the number stays")
    func negativeBadge() async throws {
        try await allow()
        try await center.setBadgeCount(2)
        let error = await #expect(throws: NotificationError.self) { try await center.setBadgeCount(-1) }
        #expect(error?.code == .invalidContent && center.badge == 2)
    }

    @Test("provisional notifications need no question, and are only listed, without banner and sound")
    func provisional() async throws {
        try await allow([.alert, .sound, .provisional])
        #expect(center.questionCount == 0)
        try await center.add(
            NotificationRequest(id: "1", content: content("a") { $0.sound = .init(name: "default") }))
        let presentation = try #require(center.presentations.first)
        #expect(presentation.isListed && !presentation.isBanner && presentation.sound == nil)
        #expect(center.lockScreen.groups.isEmpty)
    }

    // MARK: Triggers

    @Test("a time interval fires when the clock passes it, and a repeated one again and again")
    func timeInterval() async throws {
        try await allow()
        try await center.add(
            NotificationRequest(id: "once", content: content("a"), trigger: .timeInterval(seconds: 5, repeats: false)))
        try await center.add(
            NotificationRequest(id: "again", content: content("b"), trigger: .timeInterval(seconds: 60, repeats: true)))
        #expect(center.pendingRequests.map(\.id) == ["once", "again"])
        clock.advance(by: .seconds(4))
        await center.settle()
        #expect(center.presentations.isEmpty)
        clock.advance(by: .seconds(1))
        await center.settle()
        #expect(center.presentations.map(\.notification.id) == ["once"])
        clock.advance(by: .seconds(175))
        await center.settle()
        #expect(center.presentations.map(\.notification.id) == ["once", "again", "again", "again"])
        #expect(center.presentations.map { $0.notification.time.seconds - 1_800_000_000 } == [5, 60, 120, 180])
        #expect(center.pendingRequests.map(\.id) == ["again"])
        #expect(center.deliveredNotifications.map(\.id) == ["once", "again"])
    }

    @Test("an interval of parts of a second fires at its time, and one of billions of years stays scheduled")
    func oddIntervals() async throws {
        try await allow()
        clock.advance(by: .milliseconds(900))
        for (id, seconds) in [("short", 1.2), ("second", 1), ("long", 1e19)] {
            let trigger = NotificationTrigger.timeInterval(seconds: seconds, repeats: false)
            try await center.add(NotificationRequest(id: id, content: content("a"), trigger: trigger))
        }
        #expect(center.pendingRequests.map(\.id) == ["second", "short", "long"])
        for (milliseconds, ids) in [(999, []), (1, ["second"]), (199, ["second"]), (1, ["second", "short"])] {
            clock.advance(by: .milliseconds(milliseconds))
            await center.settle()
            #expect(center.presentations.map(\.notification.id) == ids)
        }
        #expect(center.pendingRequests.map(\.id) == ["long"])
    }

    @Test("an interval that isn't finite is refused with its own text", arguments: [Double.infinity, .nan])
    func endlessInterval(seconds: Double) async throws {
        try await allow()
        let error = await #expect(throws: NotificationError.self) {
            let trigger = NotificationTrigger.timeInterval(seconds: seconds, repeats: false)
            try await center.add(NotificationRequest(id: "1", content: content("a"), trigger: trigger))
        }
        #expect(error?.code == .invalidTrigger && error?.reason.contains("finite") == true)
    }

    @Test("code of the test may use the centre while it answers, changes settings or names categories")
    func reentrant() async throws {
        let held = Locked<SimulatedNotificationCenter?>(nil)
        let center = SimulatedNotificationCenter(clock) { _ in held.withLock { $0 }?.questionCount == 1 }
        held.withLock { $0 = center }
        defer { held.withLock { $0 = nil } }
        #expect(try await center.requestAuthorization([.alert]))
        center.changeSettings { $0.previews = center.isLocked ? .never : .whenUnlocked }
        #expect(center.currentSettings.previews == .whenUnlocked)
        center.addContentExtension(AskingView(center: center))
        try await center.add(NotificationRequest(id: "a", content: content("1") { $0.category = "true" }))
        #expect(try await center.expand("a") != nil)
    }

    /// Serves a category that depends on the centre.
    private struct AskingView: NotificationContentExtension {
        let center: SimulatedNotificationCenter
        var categories: [String] { ["\(center.badge == 0)"] }

        func received(_ notification: DeliveredNotification, in context: any ContentExtensionContext) async {}
    }

    @Test(
        "a trigger that the system doesn't allow is invalidTrigger",
        arguments: [
            NotificationTrigger.timeInterval(seconds: 0, repeats: false), .timeInterval(seconds: -1, repeats: false),
            .timeInterval(seconds: 59.9, repeats: true), .push, .unknown,
            .calendar(CalendarMatch(year: 2020), repeats: false),
            .calendar(CalendarMatch(hour: 8, timeZone: "Nowhere/None"), repeats: false),
            .location(.init(id: "r", latitude: 0, longitude: 0, radius: 0), repeats: false),
            .location(.init(id: "r", latitude: 91, longitude: 0, radius: 1), repeats: false),
        ])
    func invalidTrigger(_ trigger: NotificationTrigger) async throws {
        try await allow()
        let error = await #expect(throws: NotificationError.self) {
            try await center.add(NotificationRequest(id: "1", content: content("a"), trigger: trigger))
        }
        #expect(error?.code == .invalidTrigger)
        #expect(center.pendingRequests.isEmpty)
    }

    @Test(
        "a calendar trigger that no date matches is refused with the part that is wrong",
        arguments: [
            (CalendarMatch(hour: 25), "an hour is from 0 to 23, and this is 25"),
            (CalendarMatch(weekday: 0), "a weekday is from 1 to 7, and this is 0"),
            (CalendarMatch(month: 2, day: 30), "a day is from 1 to 29, and this is 30"),
            (CalendarMatch(month: 4, day: 31), "a day is from 1 to 30, and this is 31"),
            (CalendarMatch(month: 13), "a month is from 1 to 12, and this is 13"),
            (CalendarMatch(minute: 60), "a minute is from 0 to 59, and this is 60"),
            (CalendarMatch(second: -1), "a second is from 0 to 59, and this is -1"),
            (
                CalendarMatch(hour: 8, timeZone: "Europe/Berln"),
                "the time zone isn't known; a name is like Europe/Zurich"
            ),
            (CalendarMatch(), "no later time matches"), (CalendarMatch(year: 2020), "no later time matches"),
        ])
    func impossibleDate(_ match: CalendarMatch, reason: String) async throws {
        try await allow()
        let error = await #expect(throws: NotificationError.self) {
            try await center.add(
                NotificationRequest(id: "1", content: content("a"), trigger: .calendar(match, repeats: true)))
        }
        #expect(error == NotificationError(.invalidTrigger, reason))
    }

    @Test("a repeated calendar trigger with hour 7 and nothing else fires once a day, at 7:00:00")
    func smallestParts() async throws {
        try await allow()
        // 1,800,000,000 is 2027-01-15T08:00:00Z.
        let trigger = NotificationTrigger.calendar(CalendarMatch(hour: 7), repeats: true)
        try await center.add(NotificationRequest(id: "1", content: content("a"), trigger: trigger))
        clock.advance(by: .seconds(2 * 86_400))
        await center.settle()
        #expect(center.presentations.map(\.notification.time) == [UnixTime(1_800_079_200), UnixTime(1_800_165_600)])
    }

    /// Summer time began in Zurich on 28 March 2027 at 01:00 UTC, and ended on 31 October 2027 at 01:00 UTC.
    @Test(
        "a calendar trigger fires when all its parts match, with the smaller parts at their start",
        arguments: [
            (CalendarMatch(minute: 30), ["2027-03-01T12:30:00Z", "2027-03-01T13:30:00Z"]),
            (CalendarMatch(hour: 7), ["2027-03-02T06:00:00Z", "2027-03-03T06:00:00Z"]),
            // Wednesday.
            (CalendarMatch(weekday: 4), ["2027-03-02T23:00:00Z", "2027-03-09T23:00:00Z"]),
            (CalendarMatch(day: 31), ["2027-03-30T22:00:00Z", "2027-05-30T22:00:00Z"]),
            (CalendarMatch(month: 2, day: 29, hour: 12), ["2028-02-29T11:00:00Z", "2032-02-29T11:00:00Z"]),
            (CalendarMatch(month: 5), ["2027-04-30T22:00:00Z", "2028-04-30T22:00:00Z"]),
            (CalendarMatch(month: 5, day: 3, hour: 9), ["2027-05-03T07:00:00Z", "2028-05-03T07:00:00Z"]),
        ])
    func parts(_ match: CalendarMatch, _ expected: [String]) async throws {
        try await allow()
        let start = try UnixTime(Int64(Date("2027-03-01T12:00:00Z", strategy: .iso8601).timeIntervalSince1970))
        clock.advance(by: .seconds(start.seconds - clock.time.seconds))
        try await center.add(
            NotificationRequest(id: "1", content: content("a"), trigger: .calendar(match, repeats: true)))
        for _ in expected {
            let next = try #require(center.nextTime(of: "1"))
            clock.advance(by: .seconds(next.seconds - clock.time.seconds))
            await center.settle()
        }
        let shown = center.presentations.map { Date(timeIntervalSince1970: Double($0.notification.time.seconds)) }
        #expect(shown.map { $0.formatted(.iso8601) } == expected)
    }

    @Test(
        "notifications that one advance of the clock makes due are presented in their order", arguments: [true, false])
    func order(isForeground: Bool) async throws {
        try await allow()
        center.appState = isForeground ? .foreground : .background
        let expected = (1...60).map(String.init)
        for id in expected {
            let trigger = NotificationTrigger.timeInterval(seconds: Double(id) ?? 0, repeats: false)
            try await center.add(NotificationRequest(id: id, content: content("a"), trigger: trigger))
        }
        clock.advance(by: .seconds(60))
        await center.settle()
        #expect(center.presentations.map(\.notification.id) == expected)
    }

    @Test("a daily calendar trigger keeps its local time over both changes of summer time")
    func summerTime() async throws {
        for (start, times) in [
            ("2027-03-26T12:00:00Z", ["2027-03-27T07:30:00Z", "2027-03-28T06:30:00Z", "2027-03-29T06:30:00Z"]),
            ("2027-10-29T12:00:00Z", ["2027-10-30T06:30:00Z", "2027-10-31T07:30:00Z", "2027-11-01T07:30:00Z"]),
        ] {
            let noon = try UnixTime(Int64(Date(start, strategy: .iso8601).timeIntervalSince1970))
            let zone = try #require(TimeZone(identifier: "Europe/Zurich"))
            let clock = SimulatedClock(startingAt: noon)
            let center = SimulatedNotificationCenter(clock, calendar: GregorianCalendar(timeZone: zone))
            #expect(try await center.requestAuthorization([.alert]))
            let trigger = NotificationTrigger.calendar(CalendarMatch(hour: 8, minute: 30), repeats: true)
            try await center.add(NotificationRequest(id: "1", content: content("a"), trigger: trigger))
            clock.advance(by: .seconds(3 * 86_400))
            await center.settle()
            let shown = center.presentations.map { Date(timeIntervalSince1970: Double($0.notification.time.seconds)) }
            #expect(shown.map { $0.formatted(.iso8601) } == times)
        }
    }

    @Test("a time that summer time skips is moved to the next one that exists, and one that occurs twice fires once")
    func skippedTime() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Zurich"))
        let calendar = GregorianCalendar(timeZone: zone)
        for (start, hour, expected) in [
            ("2027-03-27T12:00:00Z", 2, "2027-03-28T01:00:00Z"), ("2027-10-30T12:00:00Z", 2, "2027-10-31T00:30:00Z"),
        ] {
            let time = try UnixTime(Int64(Date(start, strategy: .iso8601).timeIntervalSince1970))
            let next = try #require(try calendar.next(after: time, matching: CalendarMatch(hour: hour, minute: 30)))
            #expect(Date(timeIntervalSince1970: TimeInterval(next.seconds)).formatted(.iso8601) == expected)
        }
    }

    @Test("a calendar trigger with its own time zone fires at that zone's time, and is listed with it")
    func calendarTrigger() async throws {
        try await allow()
        // 1,800,000,000 is 2027-01-15T08:00:00Z.
        let match = CalendarMatch(hour: 18, minute: 0, second: 0, timeZone: "Asia/Tokyo")
        try await center.add(
            NotificationRequest(id: "1", content: content("a"), trigger: .calendar(match, repeats: true)))
        #expect(center.nextTime(of: "1") == UnixTime(1_800_000_000 + 3_600))
        clock.advance(by: .seconds(3_600))
        await center.settle()
        #expect(center.presentations.count == 1)
        #expect(center.nextTime(of: "1") == UnixTime(1_800_000_000 + 3_600 + 86_400))
    }

    @Test("a region fires when the device enters or leaves it, and not at its first position")
    func region() async throws {
        try await allow()
        let region = NotificationTrigger.Region(id: "zurich", latitude: 47.3769, longitude: 8.5417, radius: 1_000)
        var leaving = region
        (leaving.notifiesOnEntry, leaving.id) = (false, "leaving")
        try await center.add(
            NotificationRequest(id: "both", content: content("a"), trigger: .location(region, repeats: true)))
        try await center.add(
            NotificationRequest(id: "exit", content: content("b"), trigger: .location(leaving, repeats: false)))
        let (inside, outside) = (
            Position(latitude: 47.3800, longitude: 8.5450), Position(latitude: 47.40, longitude: 8.60)
        )
        await center.move(to: inside)
        #expect(center.presentations.isEmpty)
        await center.move(to: outside)
        #expect(center.presentations.map(\.notification.id) == ["both", "exit"])
        await center.move(to: inside)
        await center.move(to: outside)
        #expect(center.presentations.map(\.notification.id) == ["both", "exit", "both", "both"])
        #expect(center.pendingRequests.map(\.id) == ["both"])
    }

    @Test("without permission for the location a region stays scheduled and isn't shown")
    func regionWithoutPermission() async throws {
        try await allow()
        let region = NotificationTrigger.Region(id: "zurich", latitude: 47.3769, longitude: 8.5417, radius: 1_000)
        try await center.add(
            NotificationRequest(id: "a", content: content("a"), trigger: .location(region, repeats: false)))
        for isAllowed in [false, true] {
            center.allowsLocation = isAllowed
            await center.move(to: Position(latitude: 47.40, longitude: 8.60))
            await center.move(to: Position(latitude: 47.3769, longitude: 8.5417))
            #expect(center.presentations.isEmpty == !isAllowed && center.pendingRequests.isEmpty == isAllowed)
        }
    }

    // MARK: Lists

    @Test("pending and delivered notifications are listed, and removed one by one and all")
    func lists() async throws {
        try await allow()
        for id in ["a", "b", "c"] {
            try await center.add(
                NotificationRequest(id: id, content: content(id), trigger: .timeInterval(seconds: 60, repeats: false)))
            try await center.add(NotificationRequest(id: "now-" + id, content: content(id)))
        }
        #expect(await center.pending().map(\.id) == ["a", "b", "c"])
        #expect(await center.delivered().map(\.id) == ["now-a", "now-b", "now-c"])
        center.removePending(["b", "none"])
        center.remove(["now-a", "none"])
        #expect(await center.pending().map(\.id) == ["a", "c"])
        #expect(await center.delivered().map(\.id) == ["now-b", "now-c"])
        center.removeAllPending()
        center.removeAllDelivered()
        #expect(await center.pending().isEmpty)
        #expect(await center.delivered().isEmpty)
        clock.advance(by: .seconds(120))
        await center.settle()
        #expect(center.presentations.count == 3)
    }

    @Test("a request with the name of an earlier one replaces it, pending or delivered")
    func replaced() async throws {
        try await allow()
        try await center.add(
            NotificationRequest(id: "a", content: content("1"), trigger: .timeInterval(seconds: 60, repeats: false)))
        try await center.add(NotificationRequest(id: "a", content: content("2")))
        #expect(center.pendingRequests.isEmpty)
        try await center.add(NotificationRequest(id: "a", content: content("3")))
        #expect(center.deliveredNotifications.map(\.request.content.title.literal) == ["3"])
    }

    @Test("a shown notification stays until the scheduled one with its name is shown")
    func replacedWhenShown() async throws {
        try await allow()
        try await center.add(NotificationRequest(id: "a", content: content("1")))
        try await center.add(
            NotificationRequest(id: "a", content: content("2"), trigger: .timeInterval(seconds: 60, repeats: false)))
        #expect(center.deliveredNotifications.map(\.request.content.title.literal) == ["1"])
        clock.advance(by: .seconds(60))
        await center.settle()
        #expect(center.deliveredNotifications.map(\.request.content.title.literal) == ["2"])
    }

    @Test("a request without text, badge and sound is invalidContent, and one of them is enough")
    func withoutContent() async throws {
        try await allow()
        let error = await #expect(throws: NotificationError.self) {
            try await center.add(NotificationRequest(id: "a", content: NotificationContent()))
        }
        #expect(error?.code == .invalidContent && center.presentations.isEmpty)
        for content in [content("1"), content("") { $0.badge = 1 }, content("") { $0.sound = .init(name: "default") }] {
            try await center.add(NotificationRequest(id: "a", content: content))
        }
        #expect(center.presentations.count == 3)
    }

    @Test("of 70 scheduled notifications the 64 soonest are kept")
    func scheduledLimit() async throws {
        try await allow()
        for number in (1...70).reversed() {
            let trigger = NotificationTrigger.timeInterval(seconds: Double(number), repeats: false)
            try await center.add(NotificationRequest(id: "\(number)", content: content("a"), trigger: trigger))
        }
        #expect(center.pendingRequests.map(\.id) == (1...64).map(String.init))
    }

    @Test("the badge is set by content and by the app, and not if the user doesn't allow it")
    func badge() async throws {
        try await allow()
        try await center.add(NotificationRequest(id: "a", content: content("1") { $0.badge = 3 }))
        #expect(center.badge == 3)
        try await center.setBadgeCount(0)
        #expect(center.badge == 0)
        center.changeSettings { $0.allowed.remove(.badge) }
        try await center.add(NotificationRequest(id: "b", content: content("1") { $0.badge = 4 }))
        #expect(center.badge == 0)
        await #expect(throws: NotificationError.self) { try await center.setBadgeCount(1) }
    }

    // MARK: Presentation

    @Test("in the foreground the app decides, and without an app's answer nothing is shown")
    func foreground() async throws {
        try await allow()
        center.appState = .foreground
        app.options = [.list]
        try await center.add(NotificationRequest(id: "a", content: content("1") { $0.sound = .init(name: "default") }))
        #expect(center.presentations.last.map { [$0.isBanner, $0.isListed, $0.sound != nil] } == [false, true, false])
        guard case .local(let request) = app.presented.first else {
            Issue.record("the notification isn't local")
            return
        }
        #expect(request.id == "a" && request.trigger == nil)
        center.setResponder(nil)
        try await center.add(NotificationRequest(id: "b", content: content("1")))
        #expect(center.presentations.last.map { [$0.isBanner, $0.isListed] } == [false, false])
        #expect(center.deliveredNotifications.map(\.id) == ["a"])
    }

    @Test("a passive notification is listed without banner and sound")
    func passive() async throws {
        try await allow()
        try await center.add(
            NotificationRequest(
                id: "a",
                content: content("1") { ($0.interruptionLevel, $0.sound) = ("passive", .init(name: "default")) }))
        #expect(center.presentations.last.map { [$0.isBanner, $0.isListed, $0.sound != nil] } == [false, true, false])
    }

    @Test("on a muted device only a critical notification has a sound, if the user allows critical ones")
    func muted() async throws {
        for (options, expected) in [([.alert, .sound], [false, false]), ([.alert, .criticalAlert], [false, true])]
            as [(NotificationOptions, [Bool])]
        {
            let center = SimulatedNotificationCenter(clock)
            _ = try await center.requestAuthorization(options)
            center.isMuted = true
            for level in ["active", "critical"] {
                let content = content("1") { ($0.interruptionLevel, $0.sound) = (level, .init(name: "default")) }
                try await center.add(NotificationRequest(id: level, content: content))
            }
            #expect(center.presentations.map { $0.sound != nil } == expected)
        }
    }

    // MARK: Responses

    private static let chat = NotificationCategory(
        id: "CHAT",
        actions: [
            NotificationAction(id: "MUTE", title: "Mute", options: .destructive),
            NotificationAction(id: "SHOW", title: "Show", options: .foreground),
            NotificationAction(id: "PAY", title: "Pay", options: .authenticationRequired),
            NotificationAction(id: "REPLY", title: "Reply", textInput: .init(buttonTitle: "Send")),
        ], hiddenPreviewsBodyPlaceholder: "%u messages", options: .customDismissAction)

    private func deliver(_ id: String, category: String? = "CHAT", thread: String? = nil) async throws {
        let content = content("Title " + id) {
            ($0.category, $0.threadID, $0.body.literal) = (category, thread, "Body " + id)
        }
        try await center.add(NotificationRequest(id: id, content: content))
    }

    @Test("the actions of a category are shown in their order, a destructive one as such")
    func destructive() async throws {
        try await allow()
        let delete = NotificationAction(id: "DELETE", title: "Delete", options: .destructive)
        center.setCategories([NotificationCategory(id: "CHAT", actions: [delete] + Self.chat.actions)])
        try await deliver("a")
        #expect(try center.actions(of: "a") == [delete] + Self.chat.actions)
        try await center.choose("DELETE", of: "a")
        #expect(app.responses.map(\.action) == [.custom("DELETE")] && center.appState == .background)
        #expect(throws: ResponseError.noNotification) { try center.actions(of: "a") }
    }

    @Test("an action starts an app that isn't running, in the background")
    func started() async throws {
        try await allow()
        center.setCategories([Self.chat])
        center.appState = .notRunning
        try await deliver("a")
        #expect(center.appState == .notRunning)
        try await center.choose("MUTE", of: "a")
        #expect(center.appState == .background && app.responses.map(\.action) == [.custom("MUTE")])
    }

    @Test("the app opens its settings if it may offer them")
    func appSettings() async throws {
        try await allow()
        try await deliver("a")
        await #expect(throws: ResponseError.noSettings) { try await center.openAppSettings() }
        center.changeSettings { $0.allowed.insert(.providesAppSettings) }
        try await center.openAppSettings(from: "a")
        #expect(center.appState == .foreground && center.deliveredNotifications.map(\.id) == ["a"])
        center.isLocked = true
        await #expect(throws: ResponseError.locked) { try await center.openAppSettings() }
        center.isLocked = false
        try await center.openAppSettings()
        await #expect(throws: ResponseError.noNotification) { try await center.openAppSettings(from: "b") }
        #expect(app.settings == ["a", nil])
    }

    @Test("a tap opens the app, and the notification leaves the list")
    func tapped() async throws {
        try await allow()
        try await deliver("a")
        try await center.open("a")
        #expect(center.appState == .foreground && center.deliveredNotifications.isEmpty)
        #expect(app.responses.map(\.action) == [.open])
        await #expect(throws: ResponseError.noNotification) { try await center.open("a") }
    }

    @Test(
        "an action reaches the app in the background, with the text of a text field, and opens it only with foreground")
    func actions() async throws {
        try await allow()
        center.setCategories([Self.chat])
        for (action, text, state) in [
            ("MUTE", nil, SimulatedNotificationCenter.AppState.background), ("REPLY", "Hi", .background),
            ("PAY", nil, .background), ("SHOW", nil, .foreground),
        ] {
            try await deliver("a")
            try await center.choose(action, of: "a", text: text)
            #expect(app.responses.last?.action == .custom(action) && app.responses.last?.text == text)
            #expect(center.appState == state)
        }
        center.appState = .background
        try await deliver("a")
        await #expect(throws: ResponseError.noAction) { try await center.choose("NONE", of: "a") }
        await #expect(throws: ResponseError.missingText) { try await center.choose("REPLY", of: "a") }
        await #expect(throws: ResponseError.unexpectedText) { try await center.choose("MUTE", of: "a", text: "x") }
        center.isLocked = true
        await #expect(throws: ResponseError.locked) { try await center.choose("PAY", of: "a") }
        await #expect(throws: ResponseError.locked) { try await center.choose("SHOW", of: "a") }
        await #expect(throws: ResponseError.locked) { try await center.open("a") }
        try await center.choose("MUTE", of: "a")
        #expect(app.responses.count == 5)
    }

    @Test("of a category's 11 actions the first 10 are offered")
    func tenActions() async throws {
        try await allow()
        let actions = (1...11).map { NotificationAction(id: "\($0)", title: "Action \($0)") }
        center.setCategories([NotificationCategory(id: "CHAT", actions: actions)])
        try await deliver("a")
        await #expect(throws: ResponseError.noAction) { try await center.choose("11", of: "a") }
        try await center.choose("10", of: "a")
        #expect(app.responses.map(\.action) == [.custom("10")])
    }

    @Test("a dismissal reaches the app only if the category asks for it")
    func dismissed() async throws {
        try await allow()
        center.setCategories([Self.chat])
        try await deliver("a")
        try await deliver("b", category: nil)
        try await center.dismiss("b")
        #expect(app.responses.isEmpty)
        try await center.dismiss("a")
        #expect(app.responses.map(\.action) == [.dismiss] && center.deliveredNotifications.isEmpty)
    }

    // MARK: Content extension

    private final class ChatView: NotificationContentExtension {
        let categories = ["CHAT"]
        let hidesDefaultContent: Bool
        let answer: ContentExtensionResponse
        let chosen = Locked<[String]>([])

        init(_ answer: ContentExtensionResponse, hidesDefaultContent: Bool = false) {
            (self.answer, self.hidesDefaultContent) = (answer, hidesDefaultContent)
        }

        func received(_ notification: DeliveredNotification, in context: any ContentExtensionContext) async {
            context.setActions([NotificationAction(id: "LIKE", title: "Like")])
        }

        func received(_ action: NotificationAction, text: String?) async -> ContentExtensionResponse {
            chosen.withLock { $0.append(action.id) }
            return answer
        }
    }

    @Test(
        "a content extension changes the actions while it shows, and decides what becomes of an action",
        arguments: [
            (ContentExtensionResponse.doNotDismiss, 1, 0), (.dismiss, 0, 0), (.dismissAndForward, 0, 1),
        ])
    func contentExtension(_ answer: ContentExtensionResponse, listed: Int, forwarded: Int) async throws {
        try await allow()
        center.setCategories([Self.chat])
        let view = ChatView(answer)
        center.addContentExtension(view)
        try await deliver("other", category: nil)
        #expect(try await center.expand("other") == nil)
        try await deliver("a")
        let context = try await center.expand("a")
        #expect(context?.actions?.map(\.id) == ["LIKE"])
        await #expect(throws: ResponseError.noAction) { try await center.choose("MUTE", of: "a") }
        try await center.choose("LIKE", of: "a")
        #expect(view.chosen.withLock { $0 } == ["LIKE"])
        #expect(center.deliveredNotifications.filter { $0.id == "a" }.count == listed)
        #expect(app.responses.count == forwarded)
        if listed == 1 {
            center.collapse("a")
            try await center.choose("MUTE", of: "a")
            #expect(app.responses.map(\.action) == [.custom("MUTE")])
        }
    }

    @Test("title and body are shown beside a content extension, unless it hides them", arguments: [false, true])
    func defaultContent(isHidden: Bool) async throws {
        try await allow()
        center.addContentExtension(ChatView(.dismiss, hidesDefaultContent: isHidden))
        try await deliver("a")
        let shown = try #require(try await center.expand("a"))
        #expect(shown.defaultContent?.title.literal == (isHidden ? nil : "Title a"))
        #expect(shown.defaultContent?.body.literal == (isHidden ? nil : "Body a"))
        #expect(shown.actions?.map(\.id) == ["LIKE"])
    }

    @Test(
        "an attachment is moved to the system, and a content extension reads it only between start and stop of its access"
    )
    func attachment() async throws {
        try await allow()
        let folder = try TemporaryFolder()
        let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + [UInt8](repeating: 0, count: 20)
        try Data(png).write(to: folder.file("a.png"))
        let attachment = NotificationContent.Attachment(
            identifier: "1", path: folder.path + "/a.png", type: .png)
        center.addContentExtension(ChatView(.dismiss))
        try await center.add(
            NotificationRequest(
                id: "a", content: content("1") { ($0.attachments, $0.category) = ([attachment], "CHAT") }))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/a.png"))
        let stored = try #require(center.deliveredNotifications.first?.request.content.attachments.first)
        #expect(center.file(stored.path) == png)
        let context = try #require(try await center.expand("a"))
        #expect(context.read(stored) == nil)
        #expect(context.startAccessing(stored) && context.read(stored) == png)
        context.stopAccessing(stored)
        #expect(context.read(stored) == nil && context.accessedPaths.isEmpty)
    }

    @Test(
        "a request with a missing file, or one of an unsupported type, is invalidAttachment",
        arguments: ["none", "text"])
    func invalidAttachment(_ kind: String) async throws {
        try await allow()
        let folder = try TemporaryFolder()
        if kind == "text" { try Data("plain text, long enough".utf8).write(to: folder.file("a.png")) }
        let attachment = NotificationContent.Attachment(identifier: "1", path: folder.path + "/a.png", type: .png)
        let error = await #expect(throws: NotificationError.self) {
            try await center.add(NotificationRequest(id: "a", content: content("1") { $0.attachments = [attachment] }))
        }
        #expect(error?.code == .invalidAttachment)
    }

    @Test(
        "a file without a type hint is accepted by any extension of its type, in upper and lower case",
        arguments: [
            ("a.jpeg", true), ("a.JPG", true), ("a.jpg", true), ("a.gif", true), ("a.mp3", false), ("a", false),
        ])
    func fileExtension(_ name: String, isAccepted: Bool) async throws {
        try await allow()
        let folder = try TemporaryFolder()
        try Data([0xff, 0xd8, 0xff, 0xe0] + [UInt8](repeating: 0, count: 20)).write(to: folder.file(name))
        let attachment = NotificationContent.Attachment(identifier: "1", path: folder.path + "/" + name, type: nil)
        let request = NotificationRequest(id: "a", content: content("1") { $0.attachments = [attachment] })
        #expect(((try? await center.add(request)) != nil) == isAccepted)
    }

    @Test("an attachment of the app's bundle is copied, and stays for the next notification")
    func bundledAttachment() async throws {
        try await allow()
        let folder = try TemporaryFolder()
        try Data("GIF89a0123456789".utf8).write(to: folder.file("logo.gif"))
        center.bundlePath = folder.path
        let attachment = NotificationContent.Attachment(identifier: "1", path: folder.path + "/logo.gif", type: nil)
        for id in ["a", "b"] {
            try await center.add(
                NotificationRequest(id: id, content: content(id) { $0.attachments = [attachment] }))
        }
        let stored = center.deliveredNotifications.compactMap(\.request.content.attachments.first?.path)
        #expect(stored.count == 2 && stored.allSatisfy { center.file($0)?.count == 16 })
    }

    @Test(
        "a file of the largest size of its kind is accepted, and one with one byte more is refused",
        arguments: [
            (AttachmentType.jpeg, [UInt8]([0xff, 0xd8, 0xff, 0xe0]), 10_000_000),
            (.mp3, [UInt8]("ID3".utf8), 5_000_000),
            (.mp4, [0, 0, 0, 0x18] + [UInt8]("ftypisom".utf8), 50_000_000),
        ])
    func attachmentSize(_ type: AttachmentType, head: [UInt8], limit: Int) async throws {
        try await allow()
        let folder = try TemporaryFolder()
        for (byteCount, isAccepted) in [(limit, true), (limit + 1, false)] {
            try (Data(head) + Data(count: byteCount - head.count)).write(to: folder.file("file"))
            let attachment = NotificationContent.Attachment(identifier: "1", path: folder.path + "/file", type: type)
            let request = NotificationRequest(id: "a", content: content("1") { $0.attachments = [attachment] })
            #expect(((try? await center.add(request)) != nil) == isAccepted)
        }
    }

    @Test("a notification that replaces an opened one closes the content extension of the old one")
    func replacedWhileOpen() async throws {
        try await allow()
        center.setCategories([Self.chat])
        center.addContentExtension(ChatView(.dismiss))
        try await deliver("a")
        try await center.expand("a")
        try await deliver("a")
        await #expect(throws: ResponseError.noAction) { try await center.choose("LIKE", of: "a") }
        try await center.choose("MUTE", of: "a")
        #expect(app.responses.map(\.action) == [.custom("MUTE")])
    }

    // MARK: Lock screen

    @Test(
        "lock screen and list are independent settings",
        arguments: [(true, true), (true, false), (false, true), (false, false)])
    func places(lockScreen: Bool, list: Bool) async throws {
        try await allow()
        center.changeSettings { ($0.showsOnLockScreen, $0.showsInList) = (lockScreen, list) }
        try await deliver("a")
        #expect(center.lockScreen.groups.flatMap(\.banners).map(\.id) == (lockScreen ? ["a"] : []))
        #expect(center.deliveredNotifications.map(\.id) == (list ? ["a"] : []))
        #expect(center.presentations.last?.isListed == list)
        #expect(center.presentations.last?.isOnLockScreen == lockScreen)
        if lockScreen || list { try await center.open("a") }
        #expect(center.lockScreen.groups.isEmpty && center.deliveredNotifications.isEmpty)
    }

    @Test("the lock screen groups threads, the latest first, and shows title and body")
    func lockScreen() async throws {
        try await allow()
        try await deliver("1", thread: "x")
        try await deliver("2", thread: "y")
        try await deliver("3", thread: "x")
        let screen = center.lockScreen
        #expect(screen.groups.map(\.threadID) == ["x", "y"])
        #expect(screen.groups.map { $0.banners.map(\.id) } == [["3", "1"], ["2"]])
        #expect(screen.groups[0].banners[0].title == "Title 3" && screen.groups[0].banners[0].body == "Body 3")
    }

    @Test("a time-sensitive notification is marked only if the user allows it")
    func timeSensitive() async throws {
        try await allow()
        for level in ["time-sensitive", "active"] {
            try await center.add(
                NotificationRequest(id: level, content: content("1") { $0.interruptionLevel = level }))
        }
        #expect(center.lockScreen.groups.flatMap(\.banners).filter(\.isTimeSensitive).map(\.id) == ["time-sensitive"])
        center.changeSettings { $0.allowsTimeSensitive = false }
        #expect(center.lockScreen.groups.flatMap(\.banners).allSatisfy { !$0.isTimeSensitive })
    }

    @Test("a text by key is shown in the user's language, and as its key if the app has no text that can be shown")
    func textByKey() async throws {
        try await allow()
        center.strings = ["GREETING": "Hallo %@", "COUNT": "%d of %@"]
        for key in ["GREETING", "UNKNOWN", "COUNT"] {
            try await center.add(
                NotificationRequest(
                    id: key, content: content("") { $0.body = .init(locKey: key, locArguments: ["Zoë"]) }))
        }
        #expect(center.deliveredNotifications.map(\.request.content.body.literal) == ["Hallo Zoë", "UNKNOWN", "COUNT"])
    }

    @Test("an empty key is no key: the literal text beside it is shown")
    func emptyKey() async throws {
        try await allow()
        center.strings = [:]
        let request = NotificationRequest(id: "a", content: content("") { $0.body = .init(literal: "B", locKey: "") })
        try await center.add(request)
        #expect(center.deliveredNotifications.map(\.request.content.body.literal) == ["B"])
    }

    @Test(
        "hidden previews show the category's text with the number of messages, no picture, and title and subtitle only if the category says so"
    )
    func hiddenPreviews() async throws {
        try await allow()
        var open = Self.chat
        (open.id, open.options) = ("OPEN", .hiddenPreviewsShowTitle)
        var subtitle = Self.chat
        (subtitle.id, subtitle.options) = ("SUBTITLE", .hiddenPreviewsShowSubtitle)
        center.setCategories([Self.chat, open, subtitle])
        try await deliver("1", thread: "x")
        try await deliver("2", thread: "x")
        try await deliver("3", category: "OPEN")
        try await deliver("4", category: nil, thread: "z")
        let folder = try TemporaryFolder()
        try Data([UInt8]("GIF89a0123456789".utf8)).write(to: folder.file("a.gif"))
        let picture = NotificationContent.Attachment(identifier: "1", path: folder.path + "/a.gif", type: .gif)
        let pictured = content("Title 5") {
            ($0.category, $0.threadID, $0.attachments) = ("SUBTITLE", "y", [picture])
            $0.subtitle.literal = "Subtitle 5"
        }
        try await center.add(NotificationRequest(id: "5", content: pictured))
        center.changeSettings { $0.previews = .whenUnlocked }
        center.isLocked = true
        var banners: [String: LockScreen.Banner] {
            Dictionary(uniqueKeysWithValues: center.lockScreen.groups.flatMap(\.banners).map { ($0.id, $0) })
        }
        #expect(banners["1"]?.body == "2 messages" && banners["1"]?.title == nil && banners["1"]?.isHidden == true)
        #expect(banners["3"]?.body == "1 messages" && banners["3"]?.title == "Title 3")
        #expect(banners["4"]?.body == "Notification")
        #expect(banners["5"]?.title == nil && banners["5"]?.subtitle == "Subtitle 5" && banners["5"]?.attachment == nil)
        center.isLocked = false
        #expect(banners.values.allSatisfy { !$0.isHidden } && banners["5"]?.attachment != nil)
        center.changeSettings { $0.previews = .never }
        #expect(banners.values.allSatisfy { $0.isHidden } && banners["5"]?.attachment == nil)
    }
}
