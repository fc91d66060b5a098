import PushCryptExtension
import Testing

@testable import PushCryptExtension

@Suite struct StringTableTests {
    @Test(
        "arguments are inserted into a localised format, and unknown specifiers stay unchanged",
        arguments: [
            ("plain", [], "plain"),
            ("%@ and %@", ["a", "b"], "a and b"),
            ("%2$@ before %1$@", ["a", "b"], "b before a"),
            ("%1$@ %@ %@", ["a", "b"], "a a b"),
            ("100%% of %@", ["a"], "100% of a"),
            ("%@", [], ""),
            ("%3$@|", ["a"], "|"),
            ("%0$@|", ["a"], "|"),
            ("%99999999999999999999$@", ["a"], "%99999999999999999999$@"),
            ("%d %s %", ["a"], "%d %s %"),
            ("%@", ["%@"], "%@"),
            ("%@ %@", ["%2$@", "b"], "%2$@ b"),
            ("%1$", ["a"], "%1$"),
            ("", ["a"], ""),
            ("👨‍👩‍👧 %@é", ["🇩🇪"], "👨‍👩‍👧 🇩🇪é"),
        ])
    func format(format: String, arguments: [String], expected: String) {
        #expect(StringFormat.text(format, arguments) == expected)
    }

    struct Case: Sendable, CustomStringConvertible {
        let text: NotificationContent.Text
        let expected: String?
        var description: String { "\(text)" }
    }

    @Test(
        "a key is replaced by its localised text or the literal, and never shown itself",
        arguments: [
            Case(text: .init(literal: "l"), expected: "l"),
            Case(text: .init(locKey: "HELLO", locArguments: ["Zoë"]), expected: "Hello Zoë"),
            Case(text: .init(literal: "l", locKey: "HELLO", locArguments: ["Zoë"]), expected: "Hello Zoë"),
            Case(text: .init(literal: "l", locKey: "NONE"), expected: "l"),
            Case(text: .init(literal: "", locKey: "NONE"), expected: nil),
            Case(text: .init(locKey: "NONE"), expected: nil),
            Case(text: .init(literal: "l", locKey: ""), expected: "l"),
            Case(text: .init(literal: "l", locKey: "EMPTY"), expected: "l"),
            Case(text: .init(locKey: "EMPTY"), expected: nil),
            Case(text: .init(literal: " ", locKey: "EMPTY"), expected: nil),
            Case(text: .init(literal: "l", locKey: "ARGUMENT", locArguments: [" "]), expected: "l"),
            Case(text: .init(locKey: "ARGUMENT"), expected: nil),
            Case(text: .init(locKey: "ARGUMENT", locArguments: ["a"]), expected: "a"),
            Case(text: .init(), expected: nil),
        ])
    func lookup(_ test: Case) {
        var content = NotificationContent()
        (content.title, content.subtitle, content.body) = (test.text, test.text, test.text)
        let localized = content.localized(by: ["HELLO": "Hello %@", "EMPTY": "", "ARGUMENT": "%@"])
        for text in [localized.title, localized.subtitle, localized.body] {
            #expect(text.literal == test.expected)
            #expect((text.locKey ?? "").isEmpty)
        }
    }
}
