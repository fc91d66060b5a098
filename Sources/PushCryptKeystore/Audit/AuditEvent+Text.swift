import PushCryptCore
import PushCryptPrimitives

extension AuditEvent {
    /// A detail with the durations of a policy as they are typed, instead of its JSON.
    package static func text(ofDetail detail: String) -> String {
        guard detail.hasPrefix("{"), let end = detail.lastIndex(of: "}"),
            let policy = try? JSONText(Array(detail[...end].utf8)).root
        else { return detail }
        func text(_ value: JSONValue) -> String {
            if value.kind == .array { return value.elements.map(text).joined(separator: " ") }
            let text = value.string ?? String(decoding: value.rawBytes, as: UTF8.self)
            return DurationText.seconds(text).map(DurationText.human) ?? text
        }
        let members = policy.members.map { "\($0.name) \(text($0.value))" }
        return members.joined(separator: ", ") + detail[detail.index(after: end)...]
    }
}

extension AuditEvent.Action {
    package var text: String {
        switch self {
        case .policyChanged: "changed the policy"
        case .protectionChanged: "changed the protection"
        case .logRestarted: "started a new audit log"
        case .restored: "restored"
        case .logLost: "restored without its later log"
        case .restoreConfirmed: "confirmed the restoration"
        case .writerChanged: "changed the writer"
        case .publicationChanged: "changed the published set"
        case .renewed: "issued the signed set again"
        default: rawValue
        }
    }
}
