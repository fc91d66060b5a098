/// The app that messages are for: its bundle identifier (not the extension's), 1 to 155 characters of
/// `[A-Za-z0-9.-]`. It comes from configuration on both sides and is bound into every message.
public struct Topic: Hashable, Sendable, CustomStringConvertible {
    private let text: String

    /// - Throws: `KeyError` with `invalidTopic`.
    public init(_ text: String) throws(KeyError) {
        guard (1...155).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
            throw KeyError(.invalidTopic, "a topic is the app's bundle identifier: 1 to 155 of A-Z a-z 0-9 . -")
        }
        self.text = text
    }

    public var description: String { text }

    private static func isAllowed(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
