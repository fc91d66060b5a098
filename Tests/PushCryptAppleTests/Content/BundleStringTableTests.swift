import Foundation
import PushCryptExtension
import PushCryptTestSupport
import Testing

@testable import PushCryptApple

@Suite struct BundleStringTableTests {
    private let place: TemporaryFolder
    private let app: URL

    init() throws {
        place = try TemporaryFolder()
        app = place.file("App.app")
        try write(#""HELLO" = "Hello %@"; "EMPTY" = "";"#, to: "en.lproj/Localizable.strings")
        try write(#""HELLO" = "Other";"#, to: "en.lproj/Other.strings")
        try write("", to: "PlugIns/Extension.appex/none")
    }

    private func write(_ text: String, to name: String) throws {
        let file = app.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    @Test("a bundle's strings are found by key and table, and a missing key is nil")
    func strings() throws {
        let bundle = try #require(Bundle(path: app.path))
        let table = BundleStringTable(bundle)
        #expect(table.string(for: "HELLO") == "Hello %@")
        #expect(table.string(for: "MISSING") == nil)
        #expect(BundleStringTable(bundle, table: "Other").string(for: "HELLO") == "Other")
        var content = NotificationContent()
        content.title = .init(literal: "literal", locKey: "HELLO", locArguments: ["Zoë"])
        content.body = .init(literal: "literal", locKey: "MISSING")
        #expect(content.localized(by: table).title.literal == "Hello Zoë")
        #expect(content.localized(by: table).body.literal == "literal")
    }

    @Test("a text of the bundle with a specifier for a number isn't shown: the literal text is, or nothing")
    func specifier() throws {
        try write(#""COUNT" = "%d of %@";"#, to: "en.lproj/Numbers.strings")
        let table = BundleStringTable(try #require(Bundle(path: app.path)), table: "Numbers")
        var content = NotificationContent()
        content.title = .init(literal: "literal", locKey: "COUNT", locArguments: ["5", "Zoë"])
        content.body = .init(locKey: "COUNT", locArguments: ["5", "Zoë"])
        #expect(table.string(for: "COUNT") == "%d of %@")
        #expect(content.localized(by: table).title == .init(literal: "literal"))
        #expect(content.localized(by: table).body.isEmpty)
    }

    @Test("the strings are in the given language, and those that it lacks in any language")
    func language() throws {
        try write(#""HELLO" = "Hallo %@";"#, to: "de.lproj/Localizable.strings")
        let bundle = try #require(Bundle(path: app.path))
        func hello(_ language: String?, table: String? = nil) -> String? {
            BundleStringTable(bundle, table: table, language: language).string(for: "HELLO")
        }
        #expect(hello("de") == "Hallo %@")
        #expect(hello("en") == "Hello %@")
        #expect(hello("fr") != nil)
        #expect(hello(nil) != nil)
        // The table exists in one language only.
        #expect(hello("de", table: "Other") == "Other")
    }

    @Test("the containing app of an extension's bundle is found")
    func containingApp() throws {
        let inner = try #require(Bundle(path: app.appendingPathComponent("PlugIns/Extension.appex").path))
        #expect(Bundle.containingApp(of: inner).bundleURL.lastPathComponent == "App.app")
        #expect(BundleStringTable(.containingApp(of: inner)).string(for: "HELLO") == "Hello %@")
        let outer = try #require(Bundle(path: app.path))
        #expect(Bundle.containingApp(of: outer) == outer)
        #expect(Bundle.containingApp == .main)
    }
}
