import Foundation
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

@Suite struct AppGroupTests {
    #if !canImport(Darwin)  // macOS returns a folder for every group.
    private func withGroup(_ body: (_ name: String, _ folder: URL) throws -> Void) throws {
        let name = "group.test.\(UUID().uuidString)"
        let folder = FileManager.default.stubAppGroup(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(name, folder)
    }

    @Test func `an entitled app group returns the path of its folder`() throws {
        try withGroup { name, folder in
            let group = try AppGroup(name)
            #expect(group.folder.path == folder.path && group.path(of: "boot") == folder.path + "/boot")
            #expect(group.keychainGroup == name && group.topic == "com.example.app")
            #expect(try AppGroup(name, keychainGroup: "TEAM.keys").keychainGroup == "TEAM.keys")
        }
    }

    @Test func `an app group without an entitlement throws notEntitled`() throws {
        let error = #expect(throws: ExtensionSetupError.self) { try AppGroup("group.test.none") }
        #expect(error?.code == .notEntitled && error?.description.contains("group.test.none") == true)
    }
    #endif

    @Test func `an app group with a given folder returns paths in it`() {
        let group = AppGroup(
            "group.a", folder: URL(fileURLWithPath: "/a b", isDirectory: true), keychainGroup: "TEAM.keys",
            topic: "com.example")
        #expect(group.path(of: "store") == "/a b/store")
        #expect(group.identifier == "group.a" && group.keychainGroup == "TEAM.keys")
    }

    @Test func `two calls with one role return the same store, and another role or folder returns another store`() {
        let group = AppGroup("group.a", folder: URL(fileURLWithPath: "/a", isDirectory: true), topic: "com.example")
        let other = AppGroup("group.a", folder: URL(fileURLWithPath: "/b", isDirectory: true), topic: "com.example")
        let store = group.store(.app)
        #expect(group.store(.app) === store)
        #expect(group.store(.extension) !== store && other.store(.app) !== store)
    }

    @Test func `a configuration of an app group shows what the recipient has chosen`() throws {
        let folder = try TemporaryFolder()
        let group = AppGroup("group.a", folder: folder.url, topic: "com.example")
        let configuration = try ExtensionConfiguration(group, senders: .unsigned, fallback: .bundled(.standard))
        #expect(configuration.preview?.current == .everything)
        try group.previewChoice.set(.titleOnly)
        #expect(configuration.preview?.current == .titleOnly)
    }
}

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

    @Test func `a bundle's strings are found by key and table, and a missing key is nil`() throws {
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

    @Test func `instead of a text with a specifier for a number the literal text is shown, or nothing`() throws {
        try write(#""COUNT" = "%d of %@";"#, to: "en.lproj/Numbers.strings")
        let table = BundleStringTable(try #require(Bundle(path: app.path)), table: "Numbers")
        var content = NotificationContent()
        content.title = .init(literal: "literal", locKey: "COUNT", locArguments: ["5", "Zoë"])
        content.body = .init(locKey: "COUNT", locArguments: ["5", "Zoë"])
        #expect(table.string(for: "COUNT") == "%d of %@")
        #expect(content.localized(by: table).title == .init(literal: "literal"))
        #expect(content.localized(by: table).body.isEmpty)
    }

    @Test func `the strings are in the given language, and those that it lacks in any language`() throws {
        try write(#""HELLO" = "Hallo %@";"#, to: "de.lproj/Localizable.strings")
        let bundle = try #require(Bundle(path: app.path))
        func hello(_ language: String?, table: String? = nil) -> String? {
            BundleStringTable(bundle, table: table, language: language).string(for: "HELLO")
        }
        #expect(hello("de") == "Hallo %@" && hello("en") == "Hello %@")
        #expect(hello("fr") != nil && hello(nil) != nil)
        // The table exists in one language only.
        #expect(hello("de", table: "Other") == "Other")
    }

    @Test func `the containing app of an extension's bundle is found`() throws {
        let inner = try #require(Bundle(path: app.appendingPathComponent("PlugIns/Extension.appex").path))
        #expect(Bundle.containingApp(of: inner).bundleURL.lastPathComponent == "App.app")
        #expect(BundleStringTable(.containingApp(of: inner)).string(for: "HELLO") == "Hello %@")
        let outer = try #require(Bundle(path: app.path))
        #expect(Bundle.containingApp(of: outer) == outer)
        #expect(Bundle.containingApp == .main)
    }
}

@Suite("pins of a sender set in the app's resources") struct SenderSetPinsResourceTests {
    private let place: TemporaryFolder

    init() throws { place = try TemporaryFolder() }

    /// An app with this text in pins.json; nil for an app without the file. A bundle doesn't see files that are added later.
    private func bundle(_ text: String?) throws -> Bundle {
        let app = place.file(text == nil ? "Empty.app" : "App.app")
        try FileManager.default.createDirectory(at: app, withIntermediateDirectories: true)
        if let text { try Data(text.utf8).write(to: app.appendingPathComponent("pins.json")) }
        return try #require(Bundle(url: app))
    }

    @Test func `the pins of the file are read`() throws {
        let bundle = try bundle(
            #"{"publishers":[{"kty":"OKP","crv":"Ed25519","x":"iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w","#
                + #""alg":"Ed25519","kid":"UDDReOZl1io","role":"publisher"}],"set":"BwcHBwcHBwcHBwcHBwcHBw","epoch":3}"#
        )
        #expect(try SenderSetPins(resource: "pins", in: bundle).epoch == 3)
    }

    @Test func `a missing file throws missingResource with its name, and one of another form malformed`() throws {
        let (empty, other) = (try bundle(nil), try bundle("{}"))
        let missing = #expect(throws: ExtensionSetupError.self) { try SenderSetPins(resource: "pins", in: empty) }
        #expect(missing?.code == .missingResource && missing?.reason.contains("pins.json") == true)
        let malformed = #expect(throws: KeyError.self) { try SenderSetPins(resource: "pins", in: other) }
        #expect(malformed?.code == .malformed)
    }
}
