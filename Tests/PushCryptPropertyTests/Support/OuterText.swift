import Foundation

/// An outer payload as text, to change member by member.
struct OuterText {
    var text: String

    init(_ payload: [UInt8]) {
        text = String(decoding: payload, as: UTF8.self)
    }

    var bytes: [UInt8] { Array(text.utf8) }

    /// A string member's content.
    func member(_ name: String) -> String? {
        guard let start = text.range(of: "\"\(name)\":\"")?.upperBound else { return nil }
        return String(text[start..<(text[start...].firstIndex(of: "\"") ?? text.endIndex)])
    }

    func with(_ name: String, _ value: String) -> OuterText {
        var changed = self
        changed.text = text.replacing("\"\(name)\":\"\(member(name) ?? "")\"", with: "\"\(name)\":\"\(value)\"")
        return changed
    }

    func withSKID(_ value: String) -> OuterText {
        var changed = self
        changed.text = text.dropLast(2) + ",\"skid\":\"\(value)\"}}"
        return changed
    }

    func withoutSKID() -> OuterText {
        var changed = self
        changed.text = text.replacing(",\"skid\":\"\(member("skid") ?? "")\"", with: "")
        return changed
    }
}
