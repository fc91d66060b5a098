/// The app that messages are for: its bundle identifier (not the extension's), 1 to 155 characters of
/// `[A-Za-z0-9.-]`. It comes from configuration on both sides and is bound into every message.
package struct Topic: Hashable, Sendable, CustomStringConvertible {
    private let text: String

    /// - Throws: `KeyError` with `invalidTopic`.
    package init(_ text: String) throws(KeyError) {
        guard (1...155).contains(text.utf8.count), text.utf8.allSatisfy({ $0.isAlphanumeric || $0.isOne(of: ".-") })
        else {
            throw KeyError(.invalidTopic, "a topic is the app's bundle identifier: 1 to 155 of A-Z a-z 0-9 . -")
        }
        self.text = text
    }

    package var description: String { text }
}
