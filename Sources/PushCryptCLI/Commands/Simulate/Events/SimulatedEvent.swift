import PushCryptCore
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSimulator

/// What an event did, for people and for programs.
struct SimulatedEvent {
    /// A line of text, or a notification in a frame.
    private enum Part {
        case text(String)
        case banner(LockScreen.Banner, [SimulatedPush.Attachment])
    }

    /// The number of its line in the input, from 1.
    let line: Int
    /// The members of the line, such as `tap, id push-1`.
    let heading: String
    /// The time of the network after it.
    let time: UnixTime
    private var parts: [Part] = []
    private var members: [(String, (any Encodable)?)]

    init(_ input: PayloadReader.Event, at time: UnixTime) {
        line = input.line
        self.time = time
        heading = ([input.name] + input.members.map { "\($0.name) \($0.value)" }).joined(separator: ", ")
        members = [("version", 1), ("line", line), ("event", input.name), ("time", "\(time)")]
    }

    /// - Parameter text: what people read of the member; nil if another call has it.
    mutating func add(_ member: String, _ value: (any Encodable)?, _ text: String? = nil) {
        members.append((member, value))
        if let text { add(text) }
    }

    mutating func add(_ text: String) { parts.append(.text(text)) }

    mutating func add(_ banner: LockScreen.Banner, _ attachments: [SimulatedPush.Attachment] = []) {
        parts.append(.banner(banner, attachments))
    }

    var json: JSONObject { JSONObject(members) }

    func text(_ terminal: TerminalText, appName: String, columns: Int) -> String {
        let heading = TerminalText.wrap(TerminalText.harmless("line \(line): \(heading)".utf8), width: columns - 2)
        let shown = parts.isEmpty ? [.text("nothing changes")] : parts
        let rows = shown.flatMap { part -> [String] in
            switch part {
            case .text(let text):
                TerminalText.wrap(TerminalText.harmless(text.utf8), width: columns - 4).map { "  " + $0 }
            case .banner(let banner, let attachments):
                BannerText(banner: banner, appName: appName, attachments: attachments)
                    .lines(width: min(46, columns - 8)).map { "  " + $0 }
            }
        }
        return (heading.map { terminal.styled($0, .heading) } + rows).map { "  " + $0 + "\n" }.joined()
    }
}

extension SimulatedPresentation {
    /// Where the notification is, and what it does, in the names of the input.
    var places: [String] {
        let all = [
            ("banner", isBanner), ("list", isListed), ("lockScreen", isOnLockScreen), ("sound", sound != nil),
            ("badge", setsBadge),
        ]
        return all.filter(\.1).map(\.0)
    }
}

extension NotificationContent {
    /// The members that describe a notification in a list.
    var json: JSONObject {
        JSONObject([]).adding(ifKnown: [
            "title": title.shown, "subtitle": subtitle.shown, "body": body.shown, "badge": badge,
            "sound": sound?.name, "category": category, "thread": threadID, "interruptionLevel": interruptionLevel,
            "attachments": attachments.isEmpty ? nil : attachments.map(\.identifier),
        ])
    }

    /// Its texts in one line.
    var summary: String {
        [title.shown, subtitle.shown, body.shown].compactMap(\.self).map { "\"\($0)\"" }.joined(separator: ", ")
    }
}

extension NotificationContent.Text {
    fileprivate var shown: String? { literal ?? locKey }
}

extension NotificationTrigger {
    /// The name of its kind in the input.
    var kind: String {
        switch self {
        case .push: "push"
        case .timeInterval: "timeInterval"
        case .calendar: "calendar"
        case .location: "region"
        case .unknown: "unknown"
        }
    }
}
