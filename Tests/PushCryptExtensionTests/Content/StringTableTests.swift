import Testing

@testable import PushCryptExtension

@Suite struct StringTableTests {
    @Test(
        "arguments are inserted into a localised format at their positions, and other text stays unchanged",
        arguments: [
            ("plain", [], "plain"), ("%@ and %@", ["a", "b"], "a and b"),
            ("%2$@ before %1$@", ["a", "b"], "b before a"), ("%1$@ %@ %@", ["a", "b"], "a a b"),
            ("100%% of %@", ["a"], "100% of a"), ("%@", [], ""), ("%3$@|", ["a"], "|"),
            ("%1$@ pays %2$@", ["", "Bob"], " pays Bob"),
            ("50 % de %@, 20 % discount", ["a"], "50 % de a, 20 % discount"), ("100%, (%) 5% %", [], "100%, (%) 5% %"),
            ("%%d %%@", ["a"], "%d %@"), ("%@\u{301}", ["a"], "a\u{301}"), ("%@", ["%d"], "%d"), ("%@", ["%@"], "%@"),
            ("%@ %@", ["%2$@", "b"], "%2$@ b"), ("%1$", ["a"], "%1$"), ("", ["a"], ""),
            ("👨‍👩‍👧 %@é", ["🇩🇪"], "👨‍👩‍👧 🇩🇪é"),
        ])
    func format(format: String, arguments: [String], expected: String) throws {
        #expect(try StringFormat(format).text(arguments) == expected)
    }

    @Test(
        "a specifier other than %@ is refused with its characters, wherever it stands, and plural forms are known",
        arguments: [
            ("%d", "%d"), ("%i new", "%i"), ("%lld", "%lld"), ("%1$ld", "%1$ld"), ("%s", "%s"), ("%5.2f", "%5.2f"),
            ("%@ has %u", "%u"), ("%@ %-3@", "%-3@"), ("%5@", "%5@"), ("%.*f", "%.*f"), ("%'d", "%'d"),
            ("%hhx", "%hhx"), ("%zd", "%zd"), ("%C", "%C"), ("%%%d", "%d"), ("50%off", "%o"), ("%0$@", "%0$@"),
            ("%99999999999999999999$@", "%99999999999999999999$@"), ("%d\u{301}", "%d"), ("%#@", "%#@"),
            ("You have %#@count@.", "%#@count@"), ("%1$#@a b@ %2$@", "%1$#@a b@"), ("%@ %#@x@", "%#@x@"),
        ])
    func unusable(format: String, specifier: String) throws {
        let error = #expect(throws: StringFormat.UnusableSpecifier.self) { try StringFormat(format) }
        #expect(error?.text == specifier && error?.isPlural == specifier.contains("#@"))
        var content = NotificationContent()
        content.title = .init(literal: "l", locKey: "K", locArguments: ["5", "Zoë"])
        content.body = .init(locKey: "K", locArguments: ["5", "Zoë"])
        let localized = content.localized(by: ["K": format])
        #expect(localized.title == .init(literal: "l") && localized.body == .init())
    }

    @Test(
        "a key is replaced by its localised text or the literal, and never shown itself",
        arguments: [
            (.init(literal: "l"), "l"), (.init(), nil),
            (.init(locKey: "HELLO", locArguments: ["Zoë"]), "Hello Zoë"),
            (.init(literal: "l", locKey: "HELLO", locArguments: ["Zoë"]), "Hello Zoë"),
            (.init(literal: "l", locKey: "NONE"), "l"), (.init(literal: "", locKey: "NONE"), nil),
            (.init(locKey: "NONE"), nil), (.init(literal: "l", locKey: ""), "l"),
            (.init(literal: "l", locKey: "\u{200B}"), "l"), (.init(literal: "l", locKey: "EMPTY"), "l"),
            (.init(locKey: "EMPTY"), nil), (.init(literal: " ", locKey: "EMPTY"), nil),
            (.init(literal: "l", locKey: "ARGUMENT", locArguments: [" "]), "l"), (.init(locKey: "ARGUMENT"), nil),
            (.init(locKey: "ARGUMENT", locArguments: ["a"]), "a"),
        ] as [(NotificationContent.Text, String?)])
    func lookup(_ text: NotificationContent.Text, _ expected: String?) {
        var content = NotificationContent()
        (content.title, content.subtitle, content.body) = (text, text, text)
        let localized = content.localized(by: ["HELLO": "Hello %@", "EMPTY": "", "ARGUMENT": "%@"])
        for text in [localized.title, localized.subtitle, localized.body] {
            #expect(text.literal == expected)
            #expect((text.locKey ?? "").isEmpty)
        }
    }
}
