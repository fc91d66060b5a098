import Foundation
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

/// The system's notification centre behind the protocol that the simulator has too.
@Suite struct SystemNotificationsTests {
    private let center = UNUserNotificationCenter(stub: ())
    private var notifications: SystemNotifications { SystemNotifications(center) }

    private func request(_ id: String, _ trigger: NotificationTrigger? = nil) -> NotificationRequest {
        var content = NotificationContent()
        content.title.literal = "Title " + id
        return NotificationRequest(id: id, content: content, trigger: trigger)
    }

    private static let triggers: [NotificationTrigger] = [
        .timeInterval(seconds: 5, repeats: false), .timeInterval(seconds: 60, repeats: true),
        .calendar(CalendarMatch(hour: 8, minute: 30), repeats: true),
        .calendar(
            CalendarMatch(
                year: 2027, month: 2, day: 3, weekday: 4, hour: 5, minute: 6, second: 7, timeZone: "Asia/Tokyo"),
            repeats: false),
    ]

    @Test("a scheduled request is listed with its trigger", arguments: triggers)
    func scheduled(_ trigger: NotificationTrigger) async throws {
        try await notifications.add(request("1", trigger))
        let pending = await notifications.pending()
        #expect(pending.map(\.id) == ["1"] && pending.map(\.trigger) == [trigger])
        #expect(pending.first?.content.title.literal == "Title 1")
    }

    @Test(
        "a trigger that an app can't make is invalidTrigger",
        arguments: [
            NotificationTrigger.push, .unknown, .timeInterval(seconds: 0, repeats: false),
            .timeInterval(seconds: 59, repeats: true), .calendar(CalendarMatch(hour: 8, timeZone: "x"), repeats: false),
            .location(.init(id: "r", latitude: 0, longitude: 0, radius: 1), repeats: false),
        ])
    func invalidTrigger(_ trigger: NotificationTrigger) async throws {
        let error = await #expect(throws: NotificationError.self) { try await notifications.add(request("1", trigger)) }
        #expect(error?.code == .invalidTrigger && center.stubPending.isEmpty)
    }

    @Test func `a request with a file that the system can't show is invalidAttachment, and isn't added`() async throws {
        var content = request("1").content
        content.attachments = [.init(identifier: "photo", path: "/none/a.png", type: .png)]
        let refused = NotificationRequest(id: "1", content: content)
        let error = await #expect(throws: NotificationError.self) { try await notifications.add(refused) }
        #expect(error?.code == .invalidAttachment && error?.reason.contains("photo") == true)
        #expect(center.stubDelivered.isEmpty && center.stubPending.isEmpty)
    }

    @Test("a region becomes the app's trigger, and is listed as the region", arguments: [true, false])
    func region(repeats: Bool) async throws {
        let notifications = SystemNotifications(center, regions: .stub)
        let trigger = NotificationTrigger.location(
            .init(id: "r", latitude: 1, longitude: 2, radius: 100), repeats: repeats)
        try await notifications.add(request("1", trigger))
        #expect(center.stubPending.first?.trigger is StubLocationTrigger)
        #expect(await notifications.pending().map(\.trigger) == [trigger])
        center.stubDelivered = center.stubPending
        #expect(await notifications.delivered().map(\.request.trigger) == [trigger])
        // Without the app's conversions no code here can read a region.
        #expect(await self.notifications.pending().map(\.trigger) == [.unknown])
    }

    @Test func `pending and delivered notifications are listed and removed, one by one and all`() async throws {
        for id in ["a", "b", "c"] {
            try await notifications.add(request(id, .timeInterval(seconds: 60, repeats: false)))
            try await notifications.add(request("now-" + id))
        }
        center.stubDelivered.append(
            UNNotificationRequest(
                identifier: "p", content: UNNotificationContent(), trigger: UNPushNotificationTrigger(stub: ())))
        #expect(await notifications.delivered().map(\.request.trigger) == [nil, nil, nil, .push])
        notifications.removePending(["b"])
        notifications.remove(["now-a", "p"])
        #expect(await notifications.pending().map(\.id) == ["a", "c"])
        #expect(await notifications.delivered().map(\.id) == ["now-b", "now-c"])
        notifications.removeAllPending()
        notifications.removeAllDelivered()
        #expect(await notifications.pending().isEmpty)
        #expect(await notifications.delivered().isEmpty)
    }

    @Test func `categories are set and read with their actions, text fields and hidden text`() async throws {
        let category = NotificationCategory(
            id: "CHAT",
            actions: [
                NotificationAction(id: "A", title: "a", options: [.destructive, .authenticationRequired]),
                NotificationAction(
                    id: "B", title: "b", options: .foreground,
                    textInput: .init(buttonTitle: "Send", placeholder: "Message")),
            ], hiddenPreviewsBodyPlaceholder: "%u messages", options: [.customDismissAction, .hiddenPreviewsShowTitle])
        notifications.setCategories([category, NotificationCategory(id: "PLAIN")])
        #expect(await Set(notifications.categories()) == [category, NotificationCategory(id: "PLAIN")])
    }

    @Test(arguments: [nil, NotificationAction.TextInput(buttonTitle: "Send")])
    func `the icon of an action is the symbol or the template image of its name`(input: NotificationAction.TextInput?) {
        for (icon, name) in [(NotificationAction.Icon.system("heart"), "system heart"), (.template("x"), "template x")]
        {
            let action = NotificationAction(id: "A", title: "a", textInput: input, icon: icon)
            #expect(action.system.icon?.stubName == name)
        }
        #expect(NotificationAction(id: "A", title: "a", textInput: input).system.icon == nil)
    }

    @Test func `the settings are those of the system`() async throws {
        var expected = NotificationSettings(
            authorization: .authorized, allowed: [.alert, .sound, .badge], showsOnLockScreen: true, showsInList: true,
            showsBanners: true, allowsTimeSensitive: true, previews: .always)
        expected.alertStyle = .banner
        #expect(await notifications.settings() == expected)
        var stub = UNNotificationSettings.Stub()
        (stub.status, stub.sound, stub.badge, stub.alert) = (.provisional, .disabled, .disabled, .disabled)
        (stub.list, stub.lockScreen, stub.critical, stub.timeSensitive) = (.enabled, .disabled, .enabled, .disabled)
        (stub.carPlay, stub.providesAppSettings) = (.enabled, true)
        (stub.previews, stub.alertStyle) = (1, .alert)
        (stub.announcement, stub.scheduledDelivery, stub.directMessages) = (.enabled, .enabled, .enabled)
        center.stubSettings = stub
        expected = NotificationSettings(
            authorization: .provisional, allowed: [.criticalAlert, .carPlay, .providesAppSettings], showsInList: true,
            previews: .whenUnlocked)
        (expected.alertStyle, expected.isAnnounced) = (.alert, true)
        (expected.isInSummary, expected.allowsDirectMessages) = (true, true)
        #expect(await notifications.settings() == expected)
        for (status, authorization) in [
            (UNAuthorizationStatus.notDetermined, NotificationSettings.Authorization.notDetermined), (.denied, .denied),
            (.ephemeral, .authorized),
        ] {
            center.stubSettings.status = status
            #expect(await notifications.settings().authorization == authorization)
        }
        #expect(try await !notifications.requestAuthorization([.alert]))
    }

    @Test func `the badge is set, and the system's error is thrown`() async throws {
        try await notifications.setBadgeCount(3)
        #expect(center.stubBadge == 3)
        center.stubError = CocoaError(.featureUnsupported)
        await #expect(throws: CocoaError.self) { try await notifications.setBadgeCount(4) }
        await #expect(throws: CocoaError.self) { try await notifications.add(request("1")) }
    }

    @Test("a system error becomes the simulator's, or stays if it has no equal", arguments: UNError.Code.allCases)
    func systemError(_ code: UNError.Code) async throws {
        let expected: NotificationError.Code? =
            switch code {
            case .notificationsNotAllowed: .notAllowed
            case .notificationInvalidNoDate: .invalidTrigger
            case .notificationInvalidNoContent, .badgeInputInvalid: .invalidContent
            case .contentProvidingObjectNotAllowed, .contentProvidingInvalid: nil
            default: .invalidAttachment
            }
        center.stubError = UNError(code)
        for call in [{ try await notifications.add(request("1")) }, { try await notifications.setBadgeCount(1) }] {
            let error = await #expect(throws: (any Error).self) { try await call() }
            #expect((error as? NotificationError)?.code == expected)
            #expect(expected != nil || error is UNError)
        }
    }
}

/// A process without an app bundle, such as a unit test without a host app. `UNUserNotificationCenter.current()` ends it.
@Suite struct UnbundledProcessTests {
    @Test func `asking for the notification centre ends a process without an app bundle, as Apple's does`() async {
        await #expect(processExitsWith: .failure) {
            StubProcess.current.hasAppBundle = false
            _ = UNUserNotificationCenter.current()
        }
    }

    @Test func `a service, its configuration and its kept notifications don't ask for the notification centre`() async {
        await #expect(processExitsWith: .success) {
            StubProcess.current.hasAppBundle = false
            let channel = try Channel()
            let payload = try channel.seal(#"{"aps":{"alert":"Hi"}}"#)
            let service = TestService { try channel.configuration() }
            #expect(try await service.receive(payload).content().body == "Hi")
            _ = KeptNotifications(try channel.configuration())
            _ = SystemNotifications()
        }
    }

    @Test func `removing due notifications asks for the notification centre only if there are any`() async {
        await #expect(processExitsWith: .success) {
            StubProcess.current.hasAppBundle = false
            let folder = try TemporaryFolder()
            let group = AppGroup("group", folder: URL(fileURLWithPath: folder.path), topic: "com.example.app")
            try await group.removeDueNotifications()
        }
    }
}

extension RegionTriggers {
    static let stub = RegionTriggers(
        trigger: {
            StubLocationTrigger(
                identifier: $0.id, center: ($0.latitude, $0.longitude), radius: $0.radius, repeats: $1)
        },
        region: {
            guard let stub = $0 as? StubLocationTrigger else { return nil }
            let (latitude, longitude) = (stub.center.latitude, stub.center.longitude)
            return .init(id: stub.identifier, latitude: latitude, longitude: longitude, radius: stub.radius)
        })
}
