import PushCryptCore
import PushCryptNotifications
import PushCryptSimulator

/// What happens to the phone between two pushes: a line of the input with the member `event`.
enum PhoneEvent {
    // Time, lock and network.
    case advance(Duration)
    case clock(UnixTime)
    case lock, unlock, restart
    case offline, online
    case mute, unmute
    case move(Position)
    case enterRegion(String)
    case leaveRegion(String)
    // The app.
    case foreground(PresentationOptions?)
    case background, terminate, deleteApp
    case requestAuthorization(NotificationOptions, isAllowed: Bool)
    case schedule(NotificationRequest)
    case setBadgeCount(Int)
    case pending, delivered
    case removePending([String])
    case removeAllPending
    case removeDelivered([String])
    case removeAllDelivered
    // The user.
    case settings(SettingsChange)
    case lockScreen
    case tap(String)
    case dismiss(String)
    case expand(String)
    case collapse(String)
    case respond(String, action: String, text: String?)
    case openSettings(String?)

    private typealias Parser = @Sendable (inout MemberReader) throws(MemberError) -> PhoneEvent

    /// The grammar: the names of the events, and their members.
    private static let parsers: [(name: String, parse: Parser)] = [
        ("advance", { reader throws(MemberError) in .advance(try reader.advance()) }),
        ("clock", { reader throws(MemberError) in .clock(try reader.time("time")) }),
        ("lock", { _ in .lock }), ("unlock", { _ in .unlock }), ("restart", { _ in .restart }),
        ("offline", { _ in .offline }), ("online", { _ in .online }), ("mute", { _ in .mute }),
        ("unmute", { _ in .unmute }),
        (
            "move",
            { reader throws(MemberError) in
                .move(
                    Position(
                        latitude: try reader.number("latitude", in: -90...90),
                        longitude: try reader.number("longitude", in: -180...180)))
            }
        ),
        ("enterRegion", { reader throws(MemberError) in .enterRegion(try reader.text("id")) }),
        ("leaveRegion", { reader throws(MemberError) in .leaveRegion(try reader.text("id")) }),
        (
            "foreground",
            { reader throws(MemberError) in
                .foreground(try reader.options("presents", MemberReader.presentationOptions))
            }
        ),
        ("background", { _ in .background }), ("terminate", { _ in .terminate }), ("deleteApp", { _ in .deleteApp }),
        (
            "requestAuthorization",
            { reader throws(MemberError) in
                .requestAuthorization(
                    try reader.options("options", MemberReader.authorizationOptions) ?? [.alert, .sound, .badge],
                    isAllowed: try reader.choice("answer", ["allow": true, "deny": false]) ?? true)
            }
        ),
        (
            "schedule",
            { reader throws(MemberError) in
                .schedule(
                    NotificationRequest(
                        id: try reader.text("id"), content: try reader.content(), trigger: try reader.trigger()))
            }
        ),
        (
            "setBadgeCount",
            { reader throws(MemberError) in
                .setBadgeCount(try reader.required("count", "a whole number") { $0.double.flatMap(Int.init(exactly:)) })
            }
        ),
        ("pending", { _ in .pending }), ("delivered", { _ in .delivered }),
        ("removePending", { reader throws(MemberError) in .removePending(try reader.texts("ids")) }),
        ("removeAllPending", { _ in .removeAllPending }),
        ("removeDelivered", { reader throws(MemberError) in .removeDelivered(try reader.texts("ids")) }),
        ("removeAllDelivered", { _ in .removeAllDelivered }),
        ("settings", { reader throws(MemberError) in .settings(try SettingsChange(&reader)) }),
        ("lockScreen", { _ in .lockScreen }),
        ("tap", { reader throws(MemberError) in .tap(try reader.text("id")) }),
        ("dismiss", { reader throws(MemberError) in .dismiss(try reader.text("id")) }),
        ("expand", { reader throws(MemberError) in .expand(try reader.text("id")) }),
        ("collapse", { reader throws(MemberError) in .collapse(try reader.text("id")) }),
        (
            "respond",
            { reader throws(MemberError) in
                .respond(
                    try reader.text("id"), action: try reader.text("action"), text: try reader.text(ifAny: "text"))
            }
        ),
        ("openSettings", { reader throws(MemberError) in .openSettings(try reader.text(ifAny: "id")) }),
    ]

    static var names: [String] { parsers.map(\.name) }

    /// Whether a line of the input is an event, also with a misspelt name of its member, and no payload.
    static func isEvent(_ root: JSONValue) -> Bool {
        guard root["aps"] == nil, root["payload"] == nil else { return false }
        return root["event"] != nil || misspelt(root) != nil
    }

    private static func misspelt(_ root: JSONValue) -> String? {
        root.members.first { Spelling.nearest(to: $0.name, in: ["event"]) != nil }?.name
    }

    /// Whether a line that isn't JSON was meant as an event.
    static func isBrokenEvent(_ line: [UInt8]) -> Bool {
        let text = String(decoding: line, as: UTF8.self)
        return text.contains("event") && !["aps", "payload"].contains(where: text.contains)
    }

    init(_ root: JSONValue) throws(MemberError) {
        guard let event = root["event"] else {
            throw MemberError(reason: "\(Self.misspelt(root) ?? "") isn't a member: do you mean event?")
        }
        guard let name = event.string else { throw MemberError(reason: "event must be a text") }
        guard let parser = Self.parsers.first(where: { root["event"]?.isString($0.name) == true }) else {
            let similar = Spelling.nearest(to: name, in: Self.names)
            throw MemberError(
                reason: "there is no event \(name): "
                    + (similar.map { "do you mean \($0)?" } ?? "the events are " + Self.names.joined(separator: ", ")))
        }
        self = try MemberReader.read(root, parser.name) { reader throws(MemberError) in
            _ = try reader.text("event")
            return try parser.parse(&reader)
        }
    }

    /// Whether the app becomes active, and opens the placeholders in the list.
    func showsApp(after before: SimulatedPhones.Snapshot, _ center: SimulatedNotificationCenter) -> Bool {
        if case .foreground = self { return true }
        return before.appState != .foreground && center.appState == .foreground
    }

    /// Whether the app itself does it, for which it must be running.
    var isCall: Bool {
        switch self {
        case .requestAuthorization, .schedule, .setBadgeCount, .pending, .delivered, .removePending, .removeAllPending,
            .removeDelivered, .removeAllDelivered:
            true
        default: false
        }
    }

    /// Whether it needs the app.
    var isOfApp: Bool {
        switch self {
        case .advance, .clock, .lock, .unlock, .restart, .offline, .online, .mute, .unmute, .move, .lockScreen: false
        default: true
        }
    }
}

/// What the user changes in the Settings app. A member that isn't given leaves its setting.
struct SettingsChange {
    /// Allow Notifications.
    let notifications: Bool?
    let previews: NotificationSettings.Previews?
    let location: Bool?
    private let switches: [(setting: any WritableKeyPath<NotificationSettings, Bool> & Sendable, isOn: Bool)]
    private let options: [(option: NotificationOptions, isOn: Bool)]

    init(_ reader: inout MemberReader) throws(MemberError) {
        notifications = try reader.boolean("notifications")
        previews = try reader.choice(
            "previews", ["always": .always, "whenUnlocked": .whenUnlocked, "never": .never])
        location = try reader.boolean("location")
        var switches: [(any WritableKeyPath<NotificationSettings, Bool> & Sendable, Bool)] = []
        for (name, setting) in Self.switchNames {
            if let isOn = try reader.boolean(name) { switches.append((setting, isOn)) }
        }
        var options: [(NotificationOptions, Bool)] = []
        for (name, option) in Self.optionNames {
            if let isOn = try reader.boolean(name) { options.append((option, isOn)) }
        }
        (self.switches, self.options) = (switches, options)
        try reader.refuseOthers()
        guard notifications != nil || previews != nil || location != nil || isOfApp else {
            throw MemberError(reason: "settings changes nothing: it needs a member such as \"notifications\": false")
        }
    }

    /// Whether it changes a setting that the Settings app shows only for an app that has asked.
    var isOfApp: Bool { notifications != nil || !switches.isEmpty || !options.isEmpty }

    private static let switchNames: KeyValuePairs<String, any WritableKeyPath<NotificationSettings, Bool> & Sendable> =
        [
            "lockScreen": \.showsOnLockScreen, "list": \.showsInList, "banners": \.showsBanners,
            "timeSensitive": \.allowsTimeSensitive,
        ]
    private static let optionNames: KeyValuePairs<String, NotificationOptions> = [
        "sounds": .sound, "badges": .badge, "criticalAlerts": .criticalAlert,
    ]

    func apply(to center: SimulatedNotificationCenter) {
        if notifications == true { center.allowInSettings() }
        if let location { center.allowsLocation = location }
        center.changeSettings { settings in
            if notifications == false {
                settings = NotificationSettings(authorization: .denied, previews: settings.previews)
            }
            if let previews { settings.previews = previews }
            for change in switches { settings[keyPath: change.setting] = change.isOn }
            for change in options {
                if change.isOn {
                    settings.allowed.insert(change.option)
                } else {
                    settings.allowed.remove(change.option)
                }
            }
        }
    }
}
