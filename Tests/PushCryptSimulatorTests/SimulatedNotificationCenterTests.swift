import Foundation
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@MainActor private final class App: NotificationResponder {
    var presented: [ReceivedNotification] = []
    var responses: [ReceivedResponse] = []
    var options: PresentationOptions = [.banner, .list, .sound, .badge]
    /// The names of the notifications from which the user asked for the settings; nil for the Settings app.
    var settings: [String?] = []

    var actions: [ReceivedResponse.Action] { responses.map(\.action) }

    func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
        presented.append(notification)
        return options
    }

    func received(_ response: ReceivedResponse) async { responses.append(response) }

    func openSettings(from notification: ReceivedNotification?) async {
        if case .local(let request) = notification { settings.append(request.id) } else { settings.append(nil) }
    }
}

/// The code of the `NotificationError` that `body` throws; nil for none.
@MainActor private func errorCode(_ body: () async throws -> Void) async throws -> NotificationError.Code? {
    do {
        try await body()
        return nil
    } catch let error as NotificationError {
        return error.code
    }
}

private func content(_ title: String, _ change: (inout NotificationContent) -> Void = { _ in }) -> NotificationContent {
    var content = NotificationContent()
    content.title.literal = title
    change(&content)
    return content
}

private func time(_ iso8601: String) throws -> UnixTime {
    UnixTime(Int64(try Date(iso8601, strategy: .iso8601).timeIntervalSince1970))
}

extension SimulatedNotificationCenter {
    fileprivate func add(
        _ id: String, _ content: NotificationContent, _ trigger: NotificationTrigger? = nil
    ) async throws {
        try await add(NotificationRequest(id: id, content: content, trigger: trigger))
    }

    fileprivate var presentedIDs: [String] { presentations.map(\.notification.id) }
    fileprivate var deliveredIDs: [String] { deliveredNotifications.map(\.id) }
    fileprivate var pendingIDs: [String] { pendingRequests.map(\.id) }
    fileprivate var presentedTimes: [String] {
        presentations.map { Date(timeIntervalSince1970: Double($0.notification.time.seconds)).formatted(.iso8601) }
    }
}

@MainActor @Suite struct SimulatedAuthorizationTests {
    private let center = SimulatedNotificationCenter(SimulatedClock())

    @Test func `the user is asked once, and later requests return the answer`() async throws {
        #expect(await center.settings() == NotificationSettings())
        #expect(try await center.requestAuthorization([.alert, .sound]))
        #expect(try await center.requestAuthorization([.alert]))
        #expect(try await !center.requestAuthorization([.badge]))
        #expect(center.questionCount == 1)
        let settings = await center.settings()
        #expect(settings.authorization == .authorized && settings.allowed == [.alert, .sound])
        #expect(settings.showsOnLockScreen && settings.showsBanners && settings.showsInList)
    }

    @Test func `after a refusal nothing can be scheduled, and the user isn't asked again`() async throws {
        let center = SimulatedNotificationCenter(SimulatedClock(), answer: { _ in false })
        for _ in 1...2 { #expect(try await !center.requestAuthorization([.alert])) }
        #expect(center.questionCount == 1)
        #expect(try await errorCode { try await center.add("1", content("a")) } == .notAllowed)
        await #expect(throws: NotificationError.self) { try await center.setBadgeCount(1) }
        center.allowInSettings()
        #expect(await center.settings().showsBanners && center.currentSettings.allowed == [.alert])
        center.changeSettings { settings in
            settings.authorization = .authorized
            settings.allowed = [.alert]
            settings.showsInList = true
        }
        try await center.add("1", content("a"))
        #expect(center.deliveredIDs == ["1"])
    }

    @Test func `the switch in the settings allows what the app has asked for, and nothing before`() async throws {
        center.allowInSettings()
        #expect(center.currentSettings == NotificationSettings())
        center.changeSettings { $0.previews = .never }
        #expect(try await center.requestAuthorization([.alert, .badge, .provisional]))
        center.allowInSettings()
        let settings = center.currentSettings
        #expect(settings.authorization == .authorized && settings.allowed == [.alert, .badge])
        #expect(settings.showsOnLockScreen && settings.showsInList && settings.previews == .never)
    }

    @Test func `provisional notifications need no question, and are listed without banner and sound`() async throws {
        #expect(try await center.requestAuthorization([.alert, .sound, .provisional]))
        #expect(center.questionCount == 0)
        try await center.add("1", content("a") { $0.sound = .init(name: "default") })
        let presentation = try #require(center.presentations.first)
        #expect(presentation.isListed && !presentation.isBanner && presentation.sound == nil)
        #expect(center.lockScreen.groups.isEmpty)
    }

    @Test func `a test may use the centre while it answers, changes settings or names categories`() async throws {
        let held = Locked<SimulatedNotificationCenter?>(nil)
        let center = SimulatedNotificationCenter(SimulatedClock()) { _ in held.withLock { $0 }?.questionCount == 1 }
        held.withLock { $0 = center }
        defer { held.withLock { $0 = nil } }
        #expect(try await center.requestAuthorization([.alert]))
        center.changeSettings { $0.previews = center.isLocked ? .never : .whenUnlocked }
        #expect(center.currentSettings.previews == .whenUnlocked)
        center.addContentExtension(AskingView(center: center))
        try await center.add("a", content("1") { $0.category = "true" })
        #expect(try await center.expand("a") != nil)
    }

    private struct AskingView: NotificationContentExtension {
        let center: SimulatedNotificationCenter
        var categories: [String] { ["\(center.badge == 0)"] }

        func received(_ notification: DeliveredNotification, in context: any ContentExtensionContext) async {}
    }

    @Test(
        "on a muted device only a critical notification has a sound, if the user allows critical ones",
        arguments: [([.alert, .sound], [false, false]), ([.alert, .criticalAlert], [false, true])]
            as [(NotificationOptions, [Bool])])
    func muted(_ options: NotificationOptions, _ expected: [Bool]) async throws {
        _ = try await center.requestAuthorization(options)
        center.isMuted = true
        for level in ["active", "critical"] {
            let content = content("1") { ($0.interruptionLevel, $0.sound) = (level, .init(name: "default")) }
            try await center.add(level, content)
        }
        #expect(center.presentations.map { $0.sound != nil } == expected)
    }
}

/// A centre that may show alerts, sounds and badges.
@MainActor @Suite struct SimulatedNotificationCenterTests {
    private let clock = SimulatedClock(startingAt: UnixTime(1_800_000_000))
    private let calendar: GregorianCalendar
    private let center: SimulatedNotificationCenter
    private let app = App()
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        calendar = GregorianCalendar(timeZone: try #require(TimeZone(identifier: "Europe/Zurich")))
        center = SimulatedNotificationCenter(clock, calendar: calendar)
        center.setResponder(app)
        #expect(try await center.requestAuthorization([.alert, .sound, .badge]))
    }

    private func pass(_ duration: Duration) async {
        clock.advance(by: duration)
        await center.settle()
    }

    private func pass(to time: UnixTime) async { await pass(.seconds(time.seconds - clock.time.seconds)) }

    private func refusal(
        _ content: NotificationContent, _ trigger: NotificationTrigger? = nil
    ) async throws -> NotificationError.Code? {
        try await errorCode { try await center.add("refused", content, trigger) }
    }

    // MARK: Triggers

    private static let inAMinute = NotificationTrigger.timeInterval(seconds: 60, repeats: false)

    @Test func `a time interval fires when the clock passes it, and a repeated one again and again`() async throws {
        try await center.add("once", content("a"), .timeInterval(seconds: 5, repeats: false))
        try await center.add("again", content("b"), .timeInterval(seconds: 60, repeats: true))
        #expect(center.pendingIDs == ["once", "again"])
        await pass(.seconds(4))
        #expect(center.presentations.isEmpty)
        await pass(.seconds(1))
        #expect(center.presentedIDs == ["once"])
        await pass(.seconds(175))
        #expect(center.presentedIDs == ["once", "again", "again", "again"])
        #expect(center.presentations.map { $0.notification.time.seconds - 1_800_000_000 } == [5, 60, 120, 180])
        #expect(center.pendingIDs == ["again"] && center.deliveredIDs == ["once", "again"])
    }

    @Test func `an interval of parts of a second fires in time, and one of billions of years stays`() async throws {
        clock.advance(by: .milliseconds(900))
        for (id, seconds) in [("short", 1.2), ("second", 1), ("long", 1e19)] {
            try await center.add(id, content("a"), .timeInterval(seconds: seconds, repeats: false))
        }
        #expect(center.pendingIDs == ["second", "short", "long"])
        for (milliseconds, ids) in [(999, []), (1, ["second"]), (199, ["second"]), (1, ["second", "short"])] {
            await pass(.milliseconds(milliseconds))
            #expect(center.presentedIDs == ids)
        }
        #expect(center.pendingIDs == ["long"])
    }

    @Test("an interval that isn't finite is refused with its own text", arguments: [Double.infinity, .nan])
    func endlessInterval(seconds: Double) async throws {
        let error = await #expect(throws: NotificationError.self) {
            try await center.add("1", content("a"), .timeInterval(seconds: seconds, repeats: false))
        }
        #expect(error?.code == .invalidTrigger && error?.reason.contains("finite") == true)
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
        #expect(try await refusal(content("a"), trigger) == .invalidTrigger)
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
        await #expect(throws: NotificationError(.invalidTrigger, reason)) {
            try await center.add("1", content("a"), .calendar(match, repeats: true))
        }
    }

    nonisolated private static let noon = "2027-03-01T12:00:00Z"

    /// Summer time began in Zurich on 28 March 2027 at 01:00 UTC, and ended on 31 October 2027 at 01:00 UTC.
    @Test(
        "a calendar trigger fires when all its parts match in local time, with the smaller parts at their start",
        arguments: [
            ("2027-01-15T08:00:00Z", CalendarMatch(hour: 7), ["2027-01-16T06:00:00Z", "2027-01-17T06:00:00Z"]),
            (noon, CalendarMatch(minute: 30), ["2027-03-01T12:30:00Z", "2027-03-01T13:30:00Z"]),
            // Wednesday.
            (noon, CalendarMatch(weekday: 4), ["2027-03-02T23:00:00Z", "2027-03-09T23:00:00Z"]),
            (noon, CalendarMatch(day: 31), ["2027-03-30T22:00:00Z", "2027-05-30T22:00:00Z"]),
            (noon, CalendarMatch(month: 2, day: 29, hour: 12), ["2028-02-29T11:00:00Z", "2032-02-29T11:00:00Z"]),
            (noon, CalendarMatch(month: 5), ["2027-04-30T22:00:00Z", "2028-04-30T22:00:00Z"]),
            (noon, CalendarMatch(month: 5, day: 3, hour: 9), ["2027-05-03T07:00:00Z", "2028-05-03T07:00:00Z"]),
            (
                "2027-03-26T12:00:00Z", CalendarMatch(hour: 8, minute: 30),
                ["2027-03-27T07:30:00Z", "2027-03-28T06:30:00Z", "2027-03-29T06:30:00Z"]
            ),
            (
                "2027-10-29T12:00:00Z", CalendarMatch(hour: 8, minute: 30),
                ["2027-10-30T06:30:00Z", "2027-10-31T07:30:00Z", "2027-11-01T07:30:00Z"]
            ),
        ])
    func parts(_ start: String, _ match: CalendarMatch, _ expected: [String]) async throws {
        await pass(to: try time(start))
        try await center.add("1", content("a"), .calendar(match, repeats: true))
        #expect(try center.nextTime(of: "1") == time(expected[0]))
        await pass(to: try time(expected[expected.count - 1]) + 3_599)
        #expect(center.presentedTimes == expected)
    }

    @Test("notifications that become due with one advance of the clock keep their order", arguments: [true, false])
    func order(isForeground: Bool) async throws {
        center.appState = isForeground ? .foreground : .background
        let expected = (1...60).map(String.init)
        for id in expected {
            try await center.add(id, content("a"), .timeInterval(seconds: Double(id) ?? 0, repeats: false))
        }
        await pass(.seconds(60))
        #expect(center.presentedIDs == expected)
    }

    @Test(
        "a time that summer time skips is moved to the next one that exists, and one that occurs twice fires once",
        arguments: [("2027-03-27T12:00:00Z", "2027-03-28T01:00:00Z"), ("2027-10-30T12:00:00Z", "2027-10-31T00:30:00Z")])
    func skippedTime(_ start: String, _ expected: String) throws {
        let next = try calendar.next(after: try time(start), matching: CalendarMatch(hour: 2, minute: 30))
        #expect(try next == time(expected))
    }

    @Test func `a calendar trigger with a time zone fires at that zone's time, and is listed with it`() async throws {
        // 1,800,000,000 is 2027-01-15T08:00:00Z.
        let match = CalendarMatch(hour: 18, minute: 0, second: 0, timeZone: "Asia/Tokyo")
        try await center.add("1", content("a"), .calendar(match, repeats: true))
        #expect(center.nextTime(of: "1") == UnixTime(1_800_000_000 + 3_600))
        await pass(.seconds(3_600))
        #expect(center.presentations.count == 1)
        #expect(center.nextTime(of: "1") == UnixTime(1_800_000_000 + 3_600 + 86_400))
    }

    private static let zurich = NotificationTrigger.Region(
        id: "zurich", latitude: 47.3769, longitude: 8.5417, radius: 1_000)
    private static let outside = Position(latitude: 47.40, longitude: 8.60)

    @Test func `a region fires when the device enters or leaves it, and not at its first position`() async throws {
        var leaving = Self.zurich
        (leaving.notifiesOnEntry, leaving.id) = (false, "leaving")
        try await center.add("both", content("a"), .location(Self.zurich, repeats: true))
        try await center.add("exit", content("b"), .location(leaving, repeats: false))
        let inside = Position(latitude: 47.3800, longitude: 8.5450)
        await center.move(to: inside)
        #expect(center.presentations.isEmpty)
        await center.move(to: Self.outside)
        #expect(center.presentedIDs == ["both", "exit"])
        await center.move(to: inside)
        await center.move(to: Self.outside)
        #expect(center.presentedIDs == ["both", "exit", "both", "both"] && center.pendingIDs == ["both"])
    }

    @Test func `without permission for the location a region stays scheduled and isn't shown`() async throws {
        try await center.add("a", content("a"), .location(Self.zurich, repeats: false))
        for isAllowed in [false, true] {
            center.allowsLocation = isAllowed
            await center.move(to: Self.outside)
            await center.move(to: Position(latitude: 47.3769, longitude: 8.5417))
            #expect(center.presentations.isEmpty == !isAllowed && center.pendingRequests.isEmpty == isAllowed)
        }
    }

    // MARK: Lists

    /// `ListRecipes` has the lists themselves.
    @Test func `a pending notification that was removed, by name or with all others, is never shown`() async throws {
        for id in ["a", "b"] { try await center.add(id, content(id), Self.inAMinute) }
        center.removePending(["b", "none"])
        await pass(.seconds(120))
        #expect(center.presentedIDs == ["a"])
        try await center.add("c", content("c"), Self.inAMinute)
        center.removeAllPending()
        await pass(.seconds(120))
        #expect(center.presentedIDs == ["a"])
    }

    private var titles: [String?] { center.deliveredNotifications.map(\.request.content.title.literal) }

    @Test func `a request with the name of an earlier one replaces it, pending or delivered`() async throws {
        try await center.add("a", content("1"), Self.inAMinute)
        try await center.add("a", content("2"))
        #expect(center.pendingRequests.isEmpty)
        try await center.add("a", content("3"))
        #expect(titles == ["3"])
    }

    @Test func `a shown notification stays until the scheduled one with its name is shown`() async throws {
        try await center.add("a", content("1"))
        try await center.add("a", content("2"), Self.inAMinute)
        #expect(titles == ["1"])
        await pass(.seconds(60))
        #expect(titles == ["2"])
    }

    @Test func `a request without text, badge and sound is invalidContent, and one of them is enough`() async throws {
        #expect(try await refusal(NotificationContent()) == .invalidContent)
        #expect(center.presentations.isEmpty)
        for content in [content("1"), content("") { $0.badge = 1 }, content("") { $0.sound = .init(name: "default") }] {
            try await center.add("a", content)
        }
        #expect(center.presentations.count == 3)
    }

    @Test func `of 70 scheduled notifications the 64 soonest are kept`() async throws {
        for number in (1...70).reversed() {
            try await center.add("\(number)", content("a"), .timeInterval(seconds: Double(number), repeats: false))
        }
        #expect(center.pendingIDs == (1...64).map(String.init))
    }

    @Test func `content and app set the badge, not below 0, and only if the user allows it`() async throws {
        try await center.add("a", content("1") { $0.badge = 3 })
        #expect(center.badge == 3)
        #expect(try await errorCode { try await center.setBadgeCount(-1) } == .invalidContent)
        #expect(center.badge == 3)
        try await center.setBadgeCount(0)
        #expect(center.badge == 0)
        center.changeSettings { $0.allowed.remove(.badge) }
        try await center.add("b", content("1") { $0.badge = 4 })
        #expect(center.badge == 0)
        await #expect(throws: NotificationError.self) { try await center.setBadgeCount(1) }
    }

    // MARK: Presentation

    @Test func `in the foreground the app decides, and without an app's answer nothing is shown`() async throws {
        center.appState = .foreground
        app.options = [.list]
        try await center.add("a", content("1") { $0.sound = .init(name: "default") })
        #expect(center.presentations.last.map { [$0.isBanner, $0.isListed, $0.sound != nil] } == [false, true, false])
        let request: NotificationRequest? = if case .local(let local) = app.presented.first { local } else { nil }
        #expect(request?.id == "a" && request?.trigger == nil)
        center.setResponder(nil)
        try await center.add("b", content("1"))
        #expect(center.presentations.last.map { [$0.isBanner, $0.isListed] } == [false, false])
        #expect(center.deliveredIDs == ["a"])
    }

    @Test func `a passive notification is listed without banner and sound`() async throws {
        let content = content("1") { ($0.interruptionLevel, $0.sound) = ("passive", .init(name: "default")) }
        try await center.add("a", content)
        #expect(center.presentations.last.map { [$0.isBanner, $0.isListed, $0.sound != nil] } == [false, true, false])
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
        try await center.add(id, content)
    }

    @Test func `the actions of a category are shown in their order, a destructive one as such`() async throws {
        let delete = NotificationAction(id: "DELETE", title: "Delete", options: .destructive)
        center.setCategories([NotificationCategory(id: "CHAT", actions: [delete] + Self.chat.actions)])
        try await deliver("a")
        #expect(try center.actions(of: "a") == [delete] + Self.chat.actions)
        try await center.choose("DELETE", of: "a")
        #expect(app.actions == [.custom("DELETE")] && center.appState == .background)
        #expect(throws: ResponseError.noNotification) { try center.actions(of: "a") }
    }

    @Test func `an action starts an app that isn't running, in the background`() async throws {
        center.setCategories([Self.chat])
        center.appState = .notRunning
        try await deliver("a")
        #expect(center.appState == .notRunning)
        try await center.choose("MUTE", of: "a")
        #expect(center.appState == .background && app.actions == [.custom("MUTE")])
    }

    @Test func `the app opens its settings if it may offer them`() async throws {
        try await deliver("a")
        await #expect(throws: ResponseError.noSettings) { try await center.openAppSettings() }
        center.changeSettings { $0.allowed.insert(.providesAppSettings) }
        try await center.openAppSettings(from: "a")
        #expect(center.appState == .foreground && center.deliveredIDs == ["a"])
        center.isLocked = true
        await #expect(throws: ResponseError.locked) { try await center.openAppSettings() }
        center.isLocked = false
        try await center.openAppSettings()
        await #expect(throws: ResponseError.noNotification) { try await center.openAppSettings(from: "b") }
        #expect(app.settings == ["a", nil])
    }

    @Test func `an action reaches the app in the background, or opens it if it is for the foreground`() async throws {
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

    @Test func `of a category's 11 actions the first 10 are offered`() async throws {
        let actions = (1...11).map { NotificationAction(id: "\($0)", title: "Action \($0)") }
        center.setCategories([NotificationCategory(id: "CHAT", actions: actions)])
        try await deliver("a")
        await #expect(throws: ResponseError.noAction) { try await center.choose("11", of: "a") }
        try await center.choose("10", of: "a")
        #expect(app.actions == [.custom("10")])
    }

    @Test func `a dismissal reaches the app only if the category asks for it`() async throws {
        center.setCategories([Self.chat])
        try await deliver("a")
        try await deliver("b", category: nil)
        try await center.dismiss("b")
        #expect(app.responses.isEmpty)
        try await center.dismiss("a")
        #expect(app.actions == [.dismiss] && center.deliveredNotifications.isEmpty)
        await #expect(throws: ResponseError.noNotification) { try await center.open("a") }
    }

    // MARK: Content extension

    private final class ChatView: NotificationContentExtension {
        let categories = ["CHAT"]
        let answer: ContentExtensionResponse
        let chosen = Locked<[String]>([])

        init(_ answer: ContentExtensionResponse) { self.answer = answer }

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
        arguments: [(ContentExtensionResponse.doNotDismiss, 1, 0), (.dismiss, 0, 0), (.dismissAndForward, 0, 1)])
    func contentExtension(_ answer: ContentExtensionResponse, listed: Int, forwarded: Int) async throws {
        center.setCategories([Self.chat])
        let view = ChatView(answer)
        center.addContentExtension(view)
        try await deliver("other", category: nil)
        #expect(try await center.expand("other") == nil)
        try await deliver("a")
        let shown = try #require(try await center.expand("a"))
        #expect(shown.actions?.map(\.id) == ["LIKE"] && shown.defaultContent?.title.literal == "Title a")
        await #expect(throws: ResponseError.noAction) { try await center.choose("MUTE", of: "a") }
        try await center.choose("LIKE", of: "a")
        #expect(view.chosen.withLock { $0 } == ["LIKE"])
        #expect(center.deliveredIDs.filter { $0 == "a" }.count == listed && app.responses.count == forwarded)
        if listed == 1 {
            center.collapse("a")
            try await center.choose("MUTE", of: "a")
            #expect(app.actions == [.custom("MUTE")])
        }
    }

    @Test func `a notification that replaces an opened one closes the content extension of the old one`() async throws {
        center.setCategories([Self.chat])
        center.addContentExtension(ChatView(.dismiss))
        try await deliver("a")
        try await center.expand("a")
        try await deliver("a")
        await #expect(throws: ResponseError.noAction) { try await center.choose("LIKE", of: "a") }
        try await center.choose("MUTE", of: "a")
        #expect(app.actions == [.custom("MUTE")])
    }

    // MARK: Attachments

    /// Content with a file of these bytes; nil for a missing file.
    private func attach(_ data: Data?, _ type: AttachmentType?, _ name: String = "file") throws -> NotificationContent {
        try data?.write(to: folder.file(name))
        return content("1") {
            $0.attachments = [.init(identifier: "1", path: folder.file(name).path, type: type)]
            $0.category = "CHAT"
        }
    }

    private static let gif = Data("GIF89a0123456789".utf8)

    @Test func `an attachment is moved to the system, and read only while an extension accesses it`() async throws {
        center.addContentExtension(ChatView(.dismiss))
        try await center.add("a", attach(Self.gif, .gif))
        #expect(try folder.names().isEmpty)
        let stored = try #require(center.deliveredNotifications.first?.request.content.attachments.first)
        #expect(center.file(stored.path) == Array(Self.gif))
        let context = try #require(try await center.expand("a"))
        #expect(context.read(stored) == nil)
        #expect(context.startAccessing(stored) && context.read(stored) == Array(Self.gif))
        context.stopAccessing(stored)
        #expect(context.read(stored) == nil && context.accessedPaths.isEmpty)
    }

    @Test("a missing or unsupported file is invalidAttachment", arguments: [nil, Data("plain text, long enough".utf8)])
    func invalidAttachment(_ data: Data?) async throws {
        #expect(try await refusal(attach(data, .png, "a.png")) == .invalidAttachment)
    }

    @Test(
        "a file without a type hint is accepted by any extension of its type, in upper and lower case",
        arguments: [
            ("a.jpeg", true), ("a.JPG", true), ("a.jpg", true), ("a.gif", true), ("a.mp3", false), ("a", false),
        ])
    func fileExtension(_ name: String, isAccepted: Bool) async throws {
        let jpeg = Data([0xff, 0xd8, 0xff, 0xe0]) + Data(count: 20)
        #expect((try await refusal(attach(jpeg, nil, name)) == nil) == isAccepted)
    }

    @Test func `an attachment of the app's bundle is copied, and stays for the next notification`() async throws {
        center.bundlePath = folder.path
        let content = try attach(Self.gif, nil, "logo.gif")
        for id in ["a", "b"] { try await center.add(id, content) }
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
        for (byteCount, isAccepted) in [(limit, true), (limit + 1, false)] {
            let file = Data(head) + Data(count: byteCount - head.count)
            #expect((try await refusal(attach(file, type)) == nil) == isAccepted)
        }
    }

    // MARK: Lock screen

    private var banners: [LockScreen.Banner] { center.lockScreen.groups.flatMap(\.banners) }

    @Test(
        "lock screen and list are independent settings",
        arguments: [(true, true), (true, false), (false, true), (false, false)])
    func places(lockScreen: Bool, list: Bool) async throws {
        center.changeSettings { ($0.showsOnLockScreen, $0.showsInList) = (lockScreen, list) }
        try await deliver("a")
        #expect(banners.map(\.id) == (lockScreen ? ["a"] : []) && center.deliveredIDs == (list ? ["a"] : []))
        let presentation = try #require(center.presentations.last)
        #expect(presentation.isListed == list && presentation.isOnLockScreen == lockScreen)
        if lockScreen || list { try await center.open("a") }
        #expect(center.lockScreen.groups.isEmpty && center.deliveredNotifications.isEmpty)
    }

    @Test func `the lock screen groups threads, the latest first, and shows title and body`() async throws {
        for (id, thread) in [("1", "x"), ("2", "y"), ("3", "x")] { try await deliver(id, thread: thread) }
        let screen = center.lockScreen
        #expect(screen.groups.map(\.threadID) == ["x", "y"])
        #expect(screen.groups.map { $0.banners.map(\.id) } == [["3", "1"], ["2"]])
        #expect(screen.groups[0].banners[0].title == "Title 3" && screen.groups[0].banners[0].body == "Body 3")
    }

    @Test func `a time-sensitive notification is marked only if the user allows it`() async throws {
        for level in ["time-sensitive", "active"] {
            try await center.add(level, content("1") { $0.interruptionLevel = level })
        }
        #expect(banners.filter(\.isTimeSensitive).map(\.id) == ["time-sensitive"])
        center.changeSettings { $0.allowsTimeSensitive = false }
        #expect(banners.allSatisfy { !$0.isTimeSensitive })
    }

    @Test func `a text by key is shown in the user's language, or else as its key unless that is empty`() async throws {
        center.strings = ["GREETING": "Hallo %@", "COUNT": "%d of %@"]
        for key in ["GREETING", "UNKNOWN", "COUNT"] {
            try await center.add(key, content("") { $0.body = .init(locKey: key, locArguments: ["Zoë"]) })
        }
        try await center.add("empty", content("") { $0.body = .init(literal: "B", locKey: "") })
        let texts = center.deliveredNotifications.map(\.request.content.body.literal)
        #expect(texts == ["Hallo Zoë", "UNKNOWN", "COUNT", "B"])
    }

    @Test func `hidden previews show the category's text and count, and a title only if it says so`() async throws {
        var (open, subtitle) = (Self.chat, Self.chat)
        (open.id, open.options) = ("OPEN", .hiddenPreviewsShowTitle)
        (subtitle.id, subtitle.options) = ("SUBTITLE", .hiddenPreviewsShowSubtitle)
        center.setCategories([Self.chat, open, subtitle])
        try await deliver("1", thread: "x")
        try await deliver("2", thread: "x")
        try await deliver("3", category: "OPEN")
        try await deliver("4", category: nil, thread: "z")
        var pictured = try attach(Self.gif, .gif)
        (pictured.category, pictured.threadID, pictured.subtitle.literal) = ("SUBTITLE", "y", "Subtitle 5")
        try await center.add("5", pictured)
        center.changeSettings { $0.previews = .whenUnlocked }
        center.isLocked = true
        func banner(_ id: String) -> LockScreen.Banner? { banners.first { $0.id == id } }
        #expect(banner("1")?.body == "2 messages" && banner("1")?.title == nil && banner("1")?.isHidden == true)
        #expect(banner("3")?.body == "1 messages" && banner("3")?.title == "Title 3")
        #expect(banner("4")?.body == "Notification")
        #expect(banner("5")?.title == nil && banner("5")?.subtitle == "Subtitle 5" && banner("5")?.attachment == nil)
        center.isLocked = false
        #expect(banners.allSatisfy { !$0.isHidden } && banner("5")?.attachment != nil)
        center.changeSettings { $0.previews = .never }
        #expect(banners.allSatisfy(\.isHidden) && banner("5")?.attachment == nil)
    }
}
