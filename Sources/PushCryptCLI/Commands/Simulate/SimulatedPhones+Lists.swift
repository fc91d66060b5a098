import PushCryptCore
import PushCryptExtension
import PushCryptNotifications
import PushCryptSimulator

/// What the user and the app see of the phone.
extension SimulatedPhones {
    typealias Description = (inout SimulatedEvent) -> Void

    /// The notifications that were presented.
    func describe(_ presentations: some Sequence<SimulatedPresentation>, in event: inout SimulatedEvent) {
        let presentations = Array(presentations)
        guard !presentations.isEmpty else { return }
        event.add(
            "presented",
            presentations.map { presentation in
                let content = presentation.notification.request.content
                return JSONObject([("id", presentation.notification.id), ("places", presentation.places)])
                    .adding(content.json)
            })
        for presentation in presentations {
            let places = presentation.isVisible ? presentation.places.joined(separator: ", ") : "not shown"
            event.add("\(presentation.notification.id): \(places)")
            guard presentation.isVisible else { continue }
            let content = presentation.notification.request.content
            event.add(phone.center.banner(presentation.notification), content.attachments.compactMap(attachment))
        }
    }

    /// What the app has received from the system.
    func describe(_ calls: [SimulatedApp.Call], in event: inout SimulatedEvent) {
        guard !calls.isEmpty else { return }
        event.add(
            "received",
            calls.map { call in
                JSONObject([("action", call.action)]).adding(ifKnown: [
                    "text": call.text, "id": call.notification?.id, "notification": call.notification?.kind,
                ])
            })
        for call in calls {
            let text = call.text.map { " with the text \"\($0)\"" } ?? ""
            let notification = call.notification.map { " for \($0.id) (\($0.kind))" } ?? ""
            event.add("the app receives \(call.action)\(text)\(notification)")
        }
    }

    /// The placeholders that the app has opened, because the extension couldn't.
    ///
    /// - Parameters:
    ///   - tapped: those of the notifications that the user has chosen. The system has removed them.
    ///   - outcomes: of the other ones, which the app opens when it is active.
    func describeOpened(_ tapped: [String], _ outcomes: [KeptNotifications.Outcome], in event: inout SimulatedEvent) {
        guard !tapped.isEmpty || !outcomes.isEmpty else { return }
        func json(_ id: String, _ outcome: KeptNotifications.Outcome?) -> JSONObject {
            [
                "id": id, "replacedBy": outcome?.requestID, "removed": outcome?.isRemoved ?? true,
                "failure": outcome?.failure?.rawValue,
            ]
        }
        event.add("opened", tapped.map { json($0, nil) } + outcomes.map { json($0.placeholderID, $0) })
        for id in tapped { event.add("\(id): the app opens the message of this placeholder") }
        for outcome in outcomes {
            let result =
                outcome.requestID.map { "the app opens the message of this placeholder, and shows it as \($0)" }
                ?? "the app \(outcome.isRemoved ? "removes this placeholder" : "can't open this placeholder")"
            event.add("\(outcome.placeholderID): \(result)" + (outcome.failure.map { " (\($0))" } ?? ""))
        }
    }

    /// The parts of the phone's state that events change.
    struct Snapshot {
        let presentationCount: Int
        fileprivate let badge: Int
        let appState: SimulatedNotificationCenter.AppState
        fileprivate let isLocked: Bool
        fileprivate let isBeforeFirstUnlock: Bool
        fileprivate let delivered: [String]
        fileprivate let pending: [String]
        /// The notifications in the list whose message isn't open.
        let sealed: [String]

        init(_ phone: SimulatedDevice) {
            let center = phone.center
            (presentationCount, badge) = (center.presentations.count, center.badge)
            (appState, isLocked) = (center.appState, center.isLocked)
            isBeforeFirstUnlock = phone.isBeforeFirstUnlock
            sealed = center.deliveredNotifications.filter { KeptMessage.outerPayload(userInfo: $0.userInfo) != nil }
                .map(\.id)
            (delivered, pending) = (center.deliveredNotifications.map(\.id), center.pendingRequests.map(\.id))
        }
    }

    /// What has changed, and wasn't described yet.
    ///
    /// - Parameter presented: the notifications that the event has presented; they have left the pending ones.
    func describe(
        _ before: Snapshot, _ after: Snapshot, presented: [String], in event: inout SimulatedEvent
    ) {
        let delivered = before.delivered.filter { !after.delivered.contains($0) }
        let pending = before.pending.filter { !after.pending.contains($0) && !presented.contains($0) }
        let removed = delivered + pending.filter { !delivered.contains($0) }
        if !removed.isEmpty { event.add("removed", removed, "removed: " + removed.joined(separator: ", ")) }
        if before.isLocked != after.isLocked {
            event.add("locked", after.isLocked, "the phone is \(after.isLocked ? "locked" : "unlocked")")
        }
        if before.isBeforeFirstUnlock != after.isBeforeFirstUnlock {
            event.add(
                "keysLocked", after.isBeforeFirstUnlock,
                after.isBeforeFirstUnlock ? "keys can't be read until the phone is unlocked" : "keys can be read again")
        }
        if before.appState != after.appState {
            let (name, text) =
                switch after.appState {
                case .foreground: ("foreground", "the app is in the foreground")
                case .background: ("background", "the app is in the background")
                case .notRunning: ("notRunning", "the app isn't running")
                }
            event.add("app", name, text)
        }
        if before.badge != after.badge {
            event.add("badge", after.badge, after.badge == 0 ? "the badge is removed" : "the badge is \(after.badge)")
        }
    }

    static func describe(_ settings: NotificationSettings, allowsLocation: Bool) -> Description {
        let places = [
            ("banner", settings.showsBanners), ("list", settings.showsInList),
            ("lockScreen", settings.showsOnLockScreen),
            ("timeSensitive", settings.allowsTimeSensitive),
        ].filter(\.1).map(\.0)
        let allowed = MemberReader.authorizationOptions.filter { settings.allowed.contains($0.value) }.map(\.key)
        return { event in
            event.add(
                "settings",
                [
                    "authorization": settings.authorization.name, "allowed": allowed, "places": places,
                    "previews": settings.previews.name, "location": allowsLocation,
                ] as JSONObject)
            event.add(
                "authorization \(settings.authorization.name), previews \(settings.previews.name), "
                    + "location \(allowsLocation ? "allowed" : "not allowed")")
            for (name, values) in [("allowed", allowed), ("places", places)] where !values.isEmpty {
                event.add("\(name): " + values.joined(separator: ", "))
            }
        }
    }

    /// The list of the app's pending notifications.
    func describePending() -> Description {
        let requests = phone.center.pendingRequests
        let times = requests.map { phone.center.nextTime(of: $0.id) }
        return { event in
            event.add(
                "pending",
                zip(requests, times).map { request, time in
                    JSONObject([
                        ("id", request.id), ("trigger", request.trigger?.kind),
                        ("repeats", request.trigger?.repeats ?? false), ("next", time.map { "\($0)" }),
                    ]).adding(request.content.json)
                })
            if requests.isEmpty { event.add("no notification is pending") }
            for (request, time) in zip(requests, times) {
                let when = time.map { "at \($0)" } ?? request.trigger.map(\.kind) ?? ""
                event.add(
                    "\(request.id): \(when)\(request.trigger?.repeats == true ? ", repeats" : ""), \(request.content.summary)"
                )
            }
        }
    }

    /// The list of the app's delivered notifications, as the app gets it.
    func describeDelivered() -> Description {
        let notifications = phone.center.deliveredNotifications
        return { event in
            event.add(
                "delivered",
                notifications.map { notification in
                    JSONObject([("id", notification.id), ("time", "\(notification.time)")])
                        .adding(notification.request.content.json)
                })
            if notifications.isEmpty { event.add("no notification is in the list") }
            for notification in notifications {
                event.add("\(notification.id): \(notification.time), \(notification.request.content.summary)")
            }
        }
    }

    /// What the user sees on the lock screen.
    func describeLockScreen() -> Description {
        let screen = phone.center.lockScreen
        return { event in
            event.add(
                "lockScreen",
                screen.groups.map { group in
                    [
                        "thread": group.threadID,
                        "notifications": group.banners.map { banner in
                            SimulatedPush.json(banner).adding(["id": banner.id])
                        },
                    ] as JSONObject
                })
            if screen.groups.isEmpty { event.add("no notification is on the lock screen") }
            for group in screen.groups {
                event.add(
                    (group.threadID.map { "thread \($0): " } ?? "without a thread: ")
                        + NumberText.counted(group.banners.count, "notification"))
                for banner in group.banners { event.add(banner) }
            }
        }
    }

    /// A notification that the user has opened in the list, with its actions and its content extension.
    func describeExpanded(_ id: String, _ context: SimulatedContentExtensionContext?) throws -> Description {
        let actions = try phone.center.actions(of: id)
        let content = phone.center.deliveredNotifications.first { $0.id == id }?.request.content
        let files = (content?.attachments ?? []).compactMap(attachment)
        return { event in
            event.add("actions", actions.map { ["id": $0.id, "title": $0.title] as JSONObject })
            event.add("contentExtension", context != nil)
            let text = context.map {
                $0.defaultContent == nil ? "and hides the system's view" : "beside the system's view"
            }
            event.add(
                text.map { "its content extension shows it, \($0)" } ?? "no content extension serves its category")
            event.add("defaultContent", context.map { $0.defaultContent != nil } ?? true)
            event.add(
                "attachments", files.map { ["type": $0.type, "bytes": $0.bytes.count] as JSONObject },
                files.isEmpty
                    ? nil
                    : "attachments: " + files.map { "\($0.type), \($0.bytes.count) bytes" }.joined(separator: "; "))
            event.add(
                actions.isEmpty
                    ? "no actions" : "actions: " + actions.map { "\($0.id) \"\($0.title)\"" }.joined(separator: ", "))
        }
    }
}

extension NotificationSettings.Authorization {
    /// The name of the state in input and output.
    var name: String {
        switch self {
        case .notDetermined: "notDetermined"
        case .denied: "denied"
        case .authorized: "authorized"
        case .provisional: "provisional"
        }
    }
}

extension NotificationSettings.Previews {
    fileprivate var name: String {
        switch self {
        case .always: "always"
        case .whenUnlocked: "whenUnlocked"
        case .never: "never"
        }
    }
}
