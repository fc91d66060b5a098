import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

@Suite("Settings") struct SettingsTests {
    @Test func `Each member is read, with paths relative to the file and without comments, and written`() throws {
        let text = """
            {"keystores": ["/srv/Keys", "../Publisher"], "#": null, "history": "/var/lib/pushcrypt", "secret": {"file": "a"},
             "secrets": {"app": {"command": "./kms", "#": 1}, "two": {"credential": "b"}, "#three": {"file": ""}},
             "publish": {"to": "/srv/www", "# b": []}, "after": "bin/deliver é\\"", "expected": ["senders", "fleet"],
             "devices": {"fleet": {"list": "fleet", "to": "/out", "#": {}}, "#": 1}, "#a": {"file": 1}}
            """
        let read = try Settings(json: Array(text.utf8), path: "/etc/p/s.json")
        #expect(read.keystores == ["/srv/Keys", "/etc/p/../Publisher"] && read.history == "/var/lib/pushcrypt")
        #expect(read.secret == .file("/etc/p/a"))
        #expect(read.secrets == ["app": .command("/etc/p/./kms"), "two": .credential("b")])
        #expect(read.publishTo == "/srv/www")
        #expect(read.devices == ["fleet": .init(list: "/etc/p/fleet", to: "/out")])
        #expect(read.after == "/etc/p/bin/deliver é\"" && read.expected == ["senders", "fleet"])
        #expect(try Settings(json: read.json, path: "/elsewhere/s.json").json == read.json)
        #expect(String(decoding: read.json, as: UTF8.self).hasPrefix("{\n  \"keystores\": [\"/srv/Keys\", \""))
        #expect(try Settings(json: Array("{}".utf8), path: "/s.json").json == Array("{\n\n}\n".utf8))
    }

    private static let refused: [(String, SettingsError.Code, String?)] = [
        ("[]", .wrongType, nil), ("{", .malformed, nil), ("{} {}", .malformed, nil),
        (#"{"after": "a", "after": "a"}"#, .malformed, nil), (#"{"After": "a"}"#, .unknownMember, "After"),
        (#"{" #": 1}"#, .unknownMember, " #"), (#"{"after": null}"#, .wrongType, "after"),
        (#"{"after": ["a"]}"#, .wrongType, "after"), (#"{"after": ""}"#, .empty, "after"),
        (#"{"after": "a\u0000"}"#, .controlCharacter, "after"), (#"{"history": 1}"#, .wrongType, "history"),
        (#"{"history": "\u009b"}"#, .controlCharacter, "history"), (#"{"keystores": "a"}"#, .wrongType, "keystores"),
        (#"{"keystores": []}"#, .empty, "keystores"), (#"{"keystores": ["a", 1]}"#, .wrongType, "keystores[1]"),
        (#"{"keystores": ["a", ""]}"#, .empty, "keystores[1]"),
        (#"{"keystores": ["a", "b", "./b/../a/"]}"#, .duplicate, "keystores[2]"),
        (#"{"secret": "a"}"#, .wrongType, "secret"), (#"{"secret": {}}"#, .missingMember, "secret"),
        (##"{"secret": {"#file": "a"}}"##, .missingMember, "secret"),
        (#"{"secret": {"file": "a", "command": "a"}}"#, .missingMember, "secret"),
        (#"{"secret": {"passphrase": "a"}}"#, .unknownMember, "secret.passphrase"),
        (#"{"secret": {"file": ""}}"#, .empty, "secret.file"),
        (#"{"secret": {"command": 1}}"#, .wrongType, "secret.command"),
        (#"{"secret": {"credential": "a/b"}}"#, .invalidName, "secret.credential"),
        (#"{"secret": {"credential": ".."}}"#, .invalidName, "secret.credential"),
        (#"{"secrets": []}"#, .wrongType, "secrets"), (#"{"secrets": {"app": "a"}}"#, .wrongType, "secrets.app"),
        (#"{"secrets": {"": {"file": "a"}}}"#, .empty, "secrets."),
        (#"{"secrets": {"a/b": {"file": "a"}}}"#, .invalidName, "secrets.a/b"),
        (#"{"secrets": {"a.keyset": {"file": "a"}}}"#, .invalidName, "secrets.a.keyset"),
        (#"{"secrets": {"app": {"file": "a\n"}}}"#, .controlCharacter, "secrets.app.file"),
        (#"{"secrets": {"\u00e9": {"file": "a"}, "e\u0301": {"file": "b"}}}"#, .duplicate, "secrets.e\u{301}"),
        (#"{"publish": "a"}"#, .wrongType, "publish"), (#"{"publish": {}}"#, .missingMember, "publish.to"),
        (#"{"publish": {"to": "a", "as": "b"}}"#, .unknownMember, "publish.as"),
        (#"{"devices": {"a": {"list": "a"}}}"#, .missingMember, "devices.a.to"),
        (#"{"devices": {"a": {"to": "a"}}}"#, .missingMember, "devices.a.list"),
        (#"{"devices": {"a": {"list": "a", "to": "b", "x": 1}}}"#, .unknownMember, "devices.a.x"),
        (#"{"devices": {"a": {"list": "l", "to": "b"}, "c": {"list": "l", "to": "./b"}}}"#, .duplicate, "devices.c.to"),
        (#"{"expected": {"a": 1}}"#, .wrongType, "expected"), (#"{"expected": []}"#, .empty, "expected"),
        (#"{"keystores": ["k"], "expected": ["a", "b", "a"]}"#, .duplicate, "expected[2]"),
        (#"{"keystores": ["k"], "expected": ["a/b"]}"#, .invalidName, "expected[0]"),
        (#"{"expected": ["a"]}"#, .conflicting, "expected"),
        (#"{"keystores": ["k"], "history": "k/h"}"#, .conflicting, "history"),
        (#"{"keystores": ["k"], "publish": {"to": "k/../k"}}"#, .conflicting, "keystores"),
        (#"{"keystores": ["k"], "publish": {"to": "k/www"}}"#, .conflicting, "publish.to"),
        (#"{"history": "w/h", "publish": {"to": "w"}}"#, .conflicting, "history"),
        (#"{"secret": {"file": "/w/p"}, "publish": {"to": "/w/"}}"#, .conflicting, "secret"),
        (#"{"secrets": {"a": {"file": "w/p"}}, "publish": {"to": "w"}}"#, .conflicting, "secrets.a"),
        (#"{"devices": {"a": {"list": "l", "to": "w"}}, "publish": {"to": "w"}}"#, .conflicting, "devices.a.to"),
        (#"{"keystores": ["k"], "devices": {"a": {"list": "l", "to": "k/a"}}}"#, .conflicting, "devices.a.to"),
    ]

    @Test("Settings of another form are refused with the member at fault", arguments: refused)
    func refusals(_ text: String, _ code: SettingsError.Code, _ member: String?) throws {
        let error = #expect(throws: SettingsError.self) { try Settings(json: Array(text.utf8), path: "/etc/s.json") }
        #expect(error?.code == code)
        #expect(error?.member == member)
        #expect(error?.path == "/etc/s.json")
        #expect((error?.json != nil) == (code == .malformed))
    }

    @Test func `Folders beside each other are accepted, also if the name of one begins with that of another`() throws {
        let text =
            #"{"keystores": ["k", "k/demo"], "history": "k2", "publish": {"to": "k3"}, "secret": {"file": "k/p"}}"#
        #expect(throws: Never.self) { try Settings(json: Array(text.utf8), path: "/s.json") }
    }

    @Test func `The option goes before the variable, this before the host's file, and this before the user's`() throws {
        var place = try SettingsPlace()
        place.variables = ["PUSHCRYPT_SETTINGS": place.path("named.json"), "HOME": place.path("home")]
        let names = [
            "option.json", "named.json", "etc/pushcrypt/pushcrypt.json", "xdg/pushcrypt/pushcrypt.json",
            "home/.config/pushcrypt/pushcrypt.json",
        ]
        for name in names { try place.write("{}", to: name) }
        func found(_ option: String? = nil) throws -> String? { try Settings.find(option, place.context)?.path }
        #expect(try found(place.path("option.json")) == place.path(names[0]))
        #expect(try found() == place.path(names[1]))
        place.variables["PUSHCRYPT_SETTINGS"] = ""
        #expect(try found() == place.path(names[2]))
        try FileManager.default.removeItem(atPath: place.path(names[2]))
        place.variables["XDG_CONFIG_HOME"] = place.path("xdg")
        #expect(try found() == place.path(names[3]))
        // Relative to the working folder.
        place.variables["XDG_CONFIG_HOME"] = String(repeating: "../", count: 30) + place.path("xdg").dropFirst()
        #expect(try found() == place.path(names[4]))
        try FileManager.default.removeItem(atPath: place.path(names[4]))
        #expect(try found() == nil)
        place.variables = [:]
        #expect(try found() == nil)
    }

    @Test("Another user's settings are refused if there are no own", .enabled(if: SettingsPlace.isRoot, "not root"))
    func foreign() throws {
        var place = try SettingsPlace()
        place.variables = ["HOME": place.path("home")]
        let path = try place.write("{}", to: "etc/pushcrypt/pushcrypt.json")
        try place.giveAway("etc/pushcrypt/pushcrypt.json")
        let error = SettingsError(.foreignOwner, path)
        #expect(throws: error) { try Settings.find(nil, place.context) }
        let own = try place.write("{}", to: "home/.config/pushcrypt/pushcrypt.json")
        #expect(try Settings.find(nil, place.context)?.path == own)
        #expect(throws: error) { try Settings.find(path, place.context) }
    }

    @Test func `A named file that is missing, and a file of the host that a broken link names, are errors`() throws {
        var place = try SettingsPlace()
        let path = place.path("none.json")
        #expect(throws: SettingsError(.missing, path)) { try Settings.find(path, place.context) }
        #expect(throws: SettingsError.self) { try Settings.find("", place.context) }
        place.variables = ["PUSHCRYPT_SETTINGS": path]
        #expect(throws: SettingsError(.missing, path)) { try Settings.find(nil, place.context) }
        place.variables = [:]
        try FileSystem.makeFolders(place.path("etc/pushcrypt"))
        try place.link("etc/pushcrypt/pushcrypt.json", to: "other.json")
        #expect(throws: SettingsError(.missing, place.path("etc/pushcrypt/other.json"))) {
            try Settings.find(nil, place.context)
        }
    }
}

/// Who can change what this process runs.
@Suite("Trusted paths") struct TrustedPathTests {
    private let place: SettingsPlace

    init() throws { place = try SettingsPlace() }

    /// The error of a path as that of settings and as that of a program.
    private func errors(_ name: String) -> [SettingsError?] {
        [true, false].map { allowsSticky in
            do {
                try TrustedPath.check(place.path(name), "m", place.context, allowingSticky: allowsSticky)
                return nil
            } catch { return error as? SettingsError }
        }
    }

    @Test(
        "A file or folder that others can write is refused, except a sticky folder above settings",
        arguments: [
            ("a/b/file", 0o620), ("a/b/file", 0o602), ("a/b/file", 0o644), ("a/b", 0o770), ("a/b", 0o757),
            ("a/b", 0o755), ("a", 0o777), ("a", 0o1777), ("a", 0o1755), ("", 0o777),
        ])
    func modes(_ name: String, _ mode: Int) throws {
        try place.write("", to: "a/b/file")
        try place.setMode(mode, of: name)
        let path = name.isEmpty ? place.folder.path : place.path(name)
        let isSticky = mode & 0o1000 != 0
        let refused = mode & 0o022 == 0 ? nil : SettingsError(isSticky ? .stickyFolder : .writableByOthers, path, "m")
        #expect(errors("a/b/file") == [isSticky ? nil : refused, refused])
    }

    @Test(
        "What another user owns is refused", .enabled(if: SettingsPlace.isRoot, "not root"),
        arguments: ["a", "a/b", "a/b/file"])
    func owners(_ name: String) throws {
        try place.write("", to: "a/b/file")
        #expect(errors("a/b/file") == [nil, nil])
        try place.giveAway(name)
        let error = SettingsError(.foreignOwner, place.path(name), "m")
        #expect(errors("a/b/file") == [error, error])
        // The other user's own file and root's folders.
        var context = place.context
        context.user = SettingsPlace.otherUser
        #expect(throws: Never.self) { try TrustedPath.check(place.path("a/b/file"), nil, context) }
        context.user += 1
        #expect(throws: error) { try TrustedPath.check(place.path("a/b/file"), "m", context) }
    }

    @Test func `A link is followed, and each folder that it leads through is checked`() throws {
        try place.write("", to: "real/sub/file")
        try FileSystem.makeFolders(place.path("open"))
        try place.link("absolute", to: place.path("real/sub/file"))
        try place.link("folder", to: "real/sub/../sub/.")
        try place.link("chain", to: "open/link")
        try place.link("open/link", to: "../real/sub/file")
        try place.link("circle", to: "circle")
        for name in ["absolute", "folder/file", "chain", "folder/../sub/file", "open/../real/sub//file"] {
            #expect(errors(name) == [nil, nil], "\(name)")
        }
        let circle = SettingsError(.tooManyLinks, place.path("circle"), "m")
        #expect(errors("circle") == [circle, circle])
        try place.setMode(0o777, of: "open")
        let open = SettingsError(.writableByOthers, place.path("open"), "m")
        #expect(errors("chain") == [open, open])
        #expect(errors("absolute") == [nil, nil])
    }

    @Test("In a sticky folder, another user's link isn't followed", .enabled(if: SettingsPlace.isRoot, "not root"))
    func stickyLink() throws {
        try place.write("{}", to: "real/file")
        try FileSystem.makeFolders(place.path("tmp"))
        try place.setMode(0o1777, of: "tmp")
        try place.link("tmp/link", to: "../real/file")
        #expect(errors("tmp/link")[0] == nil)
        try place.giveAway("tmp/link")
        #expect(errors("tmp/link")[0] == SettingsError(.foreignOwner, place.path("tmp/link"), "m"))
    }

    @Test func `A folder in place of a file, and a file in place of a folder, are refused`() throws {
        try place.write("", to: "a/file")
        #expect(errors("a")[1] == SettingsError(.notAFile, place.path("a"), "m"))
        #expect(errors("a/file/x")[1] == SettingsError(.notAFolder, place.path("a/file"), "m"))
        #expect(errors("a/none")[1] == SettingsError(.missing, place.path("a/none"), "m"))
    }

    @Test func `Settings that others can write aren't read`() throws {
        let path = try place.write("{}", to: "etc/pushcrypt/pushcrypt.json")
        #expect(try Settings.find(nil, place.context)?.path == path)
        try place.setMode(0o664, of: "etc/pushcrypt/pushcrypt.json")
        for option in [nil, path] {
            #expect(throws: SettingsError(.writableByOthers, path)) { try Settings.find(option, place.context) }
        }
    }
}
