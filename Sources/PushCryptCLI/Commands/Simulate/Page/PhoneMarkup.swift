import PushCryptCore
import PushCryptExtension
import PushCryptSimulator

/// A phone with its lock screen.
struct PhoneMarkup {
    let caption: String
    let screen: LockScreen
    let appName: String
    /// The files that the system holds, by path.
    var attachments: [String: SimulatedPush.Attachment] = [:]
    /// The names of the notifications that the extension restored.
    var restored: Set<String> = []

    var html: String {
        let time = ScreenTime(screen.time)
        let glass = HTML.element(
            "div", class: "screen", [:],
            [
                HTML.element("i", class: "island"), HTML.text("p", class: "date", time.day),
                HTML.text("p", class: "clock", time.clock),
                HTML.element("div", class: "list", [:], screen.groups.map(group)), HTML.element("i", class: "home"),
            ])
        let title = screen.groups.isEmpty ? "\(caption): nothing is shown" : caption
        return HTML.element(
            "figure", class: "device", [:],
            [HTML.text("figcaption", title), HTML.element("div", class: "phone", [:], [glass])])
    }

    /// The latest notification of a thread, and under it the others as a stack that can be opened. It is open if the latest is a
    /// placeholder that would hide restored texts.
    private func group(_ group: LockScreen.Group) -> String {
        let banners = group.banners.map(banner)
        guard banners.count > 1 else { return banners.joined() }
        let count = banners.count - 1
        let summary = HTML.element(
            "summary", [:],
            [HTML.text("span", class: "closed", "\(count) more"), HTML.text("span", class: "opened", "Show less")])
        let others = HTML.element("div", class: "others", [:], Array(banners.dropFirst()))
        let isOpen = !restored.contains(group.banners[0].id) && group.banners.contains { restored.contains($0.id) }
        let details = HTML.element(
            "details", class: count > 1 ? "deep" : nil, isOpen ? ["open": ""] : [:], [summary, others])
        return HTML.element("div", class: "stack", [:], [banners[0], details])
    }

    private func banner(_ banner: LockScreen.Banner) -> String {
        let texts = [("h3", "title", banner.title), ("p", "subtitle", banner.subtitle), ("p", "body", banner.body)]
            .compactMap { tag, style, text in text.map { HTML.foreign(tag, class: style, $0) } }
        let head = [
            HTML.foreign("span", class: "app", appName),
            HTML.text("span", class: "time", ScreenTime(banner.time).age(at: screen.time)),
        ]
        let mark = banner.isTimeSensitive ? [HTML.text("p", class: "sensitive", "Time Sensitive")] : []
        return HTML.element(
            "article", class: "banner", [:],
            [
                AppIcon.html(of: appName), HTML.element("div", class: "head", [:], head),
                HTML.element("div", class: "text", [:], mark + texts),
            ] + thumbnail(of: banner))
    }

    /// The attachment: a picture if browsers show its type, otherwise its type and size.
    private func thumbnail(of banner: LockScreen.Banner) -> [String] {
        guard let path = banner.attachment?.path, let file = attachments[path] else { return [] }
        guard let type = file.mediaType, Self.pictureTypes.contains(type) else {
            return [HTML.text("span", class: "file", "\(file.type), \(NumberText.grouped(file.bytes.count)) bytes")]
        }
        return [HTML.image(file.bytes, type: type, class: "thumbnail", description: "Attached picture")]
    }

    private static let pictureTypes: Set = ["image/png", "image/jpeg", "image/gif"]
}

/// A picture for an app: its initial in a rounded square.
enum AppIcon {
    static func html(of appName: String) -> String {
        HTML.element(
            "span", class: "icon", ["aria-hidden": "true", "dir": "auto"],
            [HTML.escaped(appName.first.map { String($0).uppercased() } ?? "")])
    }
}

/// A time as a lock screen shows it.
struct ScreenTime {
    private let time: UnixTime
    /// `2026-03-01T09:00:00Z`, or another form for a time without a year of four digits.
    private let text: String

    init(_ time: UnixTime) {
        self.time = time
        text = time.description
    }

    private var isWritten: Bool { UnixTime.rfc3339Range.contains(time) }

    /// `09:00`
    var clock: String { isWritten ? String(text.dropFirst(11).prefix(5)) : "" }

    /// `Sunday, 1 March`
    var day: String {
        guard isWritten, let month = Int(text.dropFirst(5).prefix(2)), let day = Int(text.dropFirst(8).prefix(2)) else {
            return text
        }
        let days = Int((Double(time.seconds) / 86_400).rounded(.down))
        // 1970-01-01 was a Thursday.
        return "\(Self.weekdays[((days + 4) % 7 + 7) % 7]), \(day) \(Self.months[month - 1])"
    }

    /// `now`, `12m ago` or `3h ago`
    func age(at now: UnixTime) -> String {
        switch now.seconds - time.seconds {
        case ..<60: "now"
        case let seconds where seconds < 3_600: "\(seconds / 60)m ago"
        case let seconds: "\(seconds / 3_600)h ago"
        }
    }

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}
