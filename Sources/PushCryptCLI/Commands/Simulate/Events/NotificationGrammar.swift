import PushCryptCore
import PushCryptNotifications

/// How input names what an app hands the notification framework: content, triggers and categories. The names are those of the library.
extension MemberReader {
    /// ```
    /// content = {"title"?, "subtitle"?, "body"?, "badge"?, "sound"?, "category"?, "thread"?, "interruptionLevel"?,
    ///            "attachments"?: [FILE]}
    /// ```
    mutating func content() throws(MemberError) -> NotificationContent {
        let content = try object("content") { reader throws(MemberError) in
            var content = NotificationContent()
            content.title.literal = try reader.text(ifAny: "title")
            content.subtitle.literal = try reader.text(ifAny: "subtitle")
            content.body.literal = try reader.text(ifAny: "body")
            content.badge = try reader.integer("badge")
            content.sound = try reader.text(ifAny: "sound").map { NotificationContent.Sound(name: $0) }
            content.category = try reader.text(ifAny: "category")
            content.threadID = try reader.text(ifAny: "thread")
            content.interruptionLevel = try reader.choice(
                "interruptionLevel",
                ["passive": "passive", "active": "active", "time-sensitive": "time-sensitive", "critical": "critical"])
            let files = try reader.texts(ifAny: "attachments") ?? []
            content.attachments = files.map { .init(identifier: $0, path: $0, type: nil) }
            return content
        }
        guard let content else { throw MemberError(reason: "\(name) needs content, which is an object") }
        return content
    }

    /// ```
    /// trigger = {"timeInterval": DURATION, "repeats"?} / {"calendar": parts, "repeats"?} / {"region": region, "repeats"?}
    /// parts   = {"year"?, "month"?, "day"?, "weekday"?, "hour"?, "minute"?, "second"?, "timeZone"?}
    /// region  = {"id", "latitude", "longitude", "radius", "notifiesOnEntry"?, "notifiesOnExit"?}
    /// ```
    mutating func trigger() throws(MemberError) -> NotificationTrigger? {
        try object("trigger") { reader throws(MemberError) in
            let repeats = try reader.boolean("repeats") ?? false
            let interval = try reader.duration(ifAny: "timeInterval")
            let match = try reader.object("calendar") { parts throws(MemberError) in try parts.calendarMatch() }
            let region = try reader.object("region") { parts throws(MemberError) in try parts.region() }
            let triggers: [NotificationTrigger] = [
                interval.map { .timeInterval(seconds: $0.inSeconds, repeats: repeats) },
                match.map { .calendar($0, repeats: repeats) }, region.map { .location($0, repeats: repeats) },
            ].compactMap(\.self)
            try reader.refuseOthers()
            guard triggers.count == 1 else {
                let fault = triggers.isEmpty ? "needs" : "has more than"
                throw MemberError(reason: "\(reader.name) \(fault) one of timeInterval, calendar and region")
            }
            return triggers[0]
        }
    }

    private mutating func calendarMatch() throws(MemberError) -> CalendarMatch {
        CalendarMatch(
            year: try integer("year"), month: try integer("month"), day: try integer("day"),
            weekday: try integer("weekday"), hour: try integer("hour"), minute: try integer("minute"),
            second: try integer("second"), timeZone: try text(ifAny: "timeZone"))
    }

    private mutating func region() throws(MemberError) -> NotificationTrigger.Region {
        NotificationTrigger.Region(
            id: try text("id"), latitude: try number("latitude"), longitude: try number("longitude"),
            radius: try number("radius"), notifiesOnEntry: try boolean("notifiesOnEntry") ?? true,
            notifiesOnExit: try boolean("notifiesOnExit") ?? true)
    }

    /// ```
    /// action = {"id", "title", "options"?, "textInput"?: {"buttonTitle", "placeholder"?}}
    /// ```
    fileprivate mutating func action() throws(MemberError) -> NotificationAction {
        let (id, title) = (try text("id"), try text("title"))
        let options = try options("options", Self.actionOptions) ?? []
        let input = try object("textInput") { reader throws(MemberError) in
            NotificationAction.TextInput(
                buttonTitle: try reader.text("buttonTitle"), placeholder: try reader.text(ifAny: "placeholder") ?? "")
        }
        return NotificationAction(id: id, title: title, options: options, textInput: input)
    }

    /// The names of presentation options, which `--foreground` also takes.
    static let presentationOptions: KeyValuePairs<String, PresentationOptions> = [
        "banner": .banner, "list": .list, "sound": .sound, "badge": .badge,
    ]
    /// What an app asks its user for.
    static let authorizationOptions: KeyValuePairs<String, NotificationOptions> = [
        "alert": .alert, "sound": .sound, "badge": .badge, "carPlay": .carPlay, "criticalAlert": .criticalAlert,
        "providesAppSettings": .providesAppSettings, "provisional": .provisional,
    ]
    private static let actionOptions: KeyValuePairs<String, NotificationAction.Options> = [
        "authenticationRequired": .authenticationRequired, "destructive": .destructive, "foreground": .foreground,
    ]
    fileprivate static let categoryOptions: KeyValuePairs<String, NotificationCategory.Options> = [
        "customDismissAction": .customDismissAction, "allowInCarPlay": .allowInCarPlay,
        "hiddenPreviewsShowTitle": .hiddenPreviewsShowTitle,
        "hiddenPreviewsShowSubtitle": .hiddenPreviewsShowSubtitle,
    ]
}

/// A category of the app, and the content extension that serves it.
struct AppCategory {
    let category: NotificationCategory
    let contentExtension: DescribedContentExtension?

    /// Reads a file of categories.
    ///
    /// ```
    /// file      = [category, ...]
    /// category  = {"id", "actions"?: [action], "hiddenPreviewsBodyPlaceholder"?, "options"?, "contentExtension"?: extension}
    /// extension = {"hidesDefaultContent"?, "actions"?: [action], "response"?: "doNotDismiss" / "dismiss" / "dismissAndForward"}
    /// ```
    static func read(_ bytes: [UInt8]) throws(MemberError) -> [AppCategory] {
        let root: JSONValue
        do throws(JSONError) { root = try JSONText(bytes).root } catch { throw MemberError(reason: "\(error)") }
        guard root.kind == .array else {
            throw MemberError(reason: "it must be an array of categories, and is \(root.kindText)")
        }
        var categories: [AppCategory] = []
        for (index, json) in root.elements.enumerated() {
            let category = try MemberReader.read(json, "category \(index + 1)") { reader throws(MemberError) in
                try AppCategory(&reader)
            }
            guard !categories.contains(where: { $0.category.id == category.category.id }) else {
                throw MemberError(reason: "two categories have the id \(category.category.id)")
            }
            categories.append(category)
        }
        return categories
    }

    private init(_ reader: inout MemberReader) throws(MemberError) {
        let id = try reader.text("id")
        let actions = try reader.objects("actions") { action throws(MemberError) in try action.action() } ?? []
        for (index, action) in actions.enumerated() where actions[..<index].contains(where: { $0.id == action.id }) {
            throw MemberError(reason: "\(reader.name): two actions have the id \(action.id)")
        }
        category = NotificationCategory(
            id: id, actions: actions,
            hiddenPreviewsBodyPlaceholder: try reader.text(ifAny: "hiddenPreviewsBodyPlaceholder"),
            options: try reader.options("options", MemberReader.categoryOptions) ?? [])
        contentExtension = try reader.object("contentExtension") { reader throws(MemberError) in
            DescribedContentExtension(
                categories: [id], hidesDefaultContent: try reader.boolean("hidesDefaultContent") ?? false,
                actions: try reader.objects("actions") { action throws(MemberError) in try action.action() },
                response: try reader.choice(
                    "response",
                    ["doNotDismiss": .doNotDismiss, "dismiss": .dismiss, "dismissAndForward": .dismissAndForward])
                    ?? .dismissAndForward)
        }
    }
}

/// A content extension without code: the actions that it shows, and its answer to each.
struct DescribedContentExtension: NotificationContentExtension {
    let categories: [String]
    let hidesDefaultContent: Bool
    /// nil leaves those of the category.
    let actions: [NotificationAction]?
    let response: ContentExtensionResponse

    func received(_ notification: DeliveredNotification, in context: any ContentExtensionContext) async {
        if let actions { context.setActions(actions) }
    }

    func received(_ action: NotificationAction, text: String?) async -> ContentExtensionResponse { response }
}
