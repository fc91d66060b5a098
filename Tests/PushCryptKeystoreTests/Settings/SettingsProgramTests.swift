import Foundation
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

@Suite("Secrets and programs of settings") struct SettingsProgramTests {
    private let place: SettingsPlace

    init() throws { place = try SettingsPlace() }

    private static let id = KeysetID("AAAAAAAAAAAAAAAAAAAAAA".utf8)!
    private static let senders = KeysetLocation("Keys/senders")

    private func passphrase(_ secret: KeysetSecret?) -> String? {
        secret?.passphraseBytes.map { String(decoding: Array($0.bytes), as: UTF8.self) }
    }

    @Test func `A keyset's own secret goes before the one of all, and without settings there is none`() throws {
        try place.write("green horse\n", to: "etc/all", mode: 0o600)
        try place.write("blue horse", to: "etc/own", mode: 0o600)
        let own = #""secrets": {"senders": {"file": "own"}}"#
        let both = try place.settings(#"{"secret": {"file": "all"}, \#(own)}"#)
        #expect(passphrase(try both.secret(for: Self.senders, id: Self.id)) == "blue horse")
        #expect(passphrase(try both.secret(for: KeysetLocation("senders/app"), id: Self.id)) == "green horse")
        let one = try place.settings("{\(own)}")
        let elsewhere = KeysetLocation("elsewhere/senders.keyset")
        #expect(passphrase(try one.secret(for: elsewhere, id: Self.id)) == "blue horse")
        #expect(try one.secret(for: KeysetLocation("app"), id: Self.id) == nil)
        try place.setMode(0o644, of: "etc/own")
        let error = #expect(throws: KeystoreError.self) { try one.secret(for: Self.senders, id: Self.id) }
        #expect(error?.code == .looseMode)
    }

    @Test func `A credential is a file in the folder of the service manager, without which it is refused`() throws {
        var place = place
        try place.write("green horse", to: "run/passphrase", mode: 0o400)
        let text = #"{"secrets": {"senders": {"credential": "passphrase"}}}"#
        let error = SettingsError(.noCredentials, place.path("etc/pushcrypt.json"), "secrets.senders.credential")
        #expect(throws: error) { try place.settings(text).secret(for: Self.senders, id: Self.id) }
        place.variables["CREDENTIALS_DIRECTORY"] = place.path("run")
        #expect(passphrase(try place.settings(text).secret(for: Self.senders, id: Self.id)) == "green horse")
        place.variables["CREDENTIALS_DIRECTORY"] = place.path("none")
        let missing = #expect(throws: KeystoreError.self) {
            try place.settings(text).secret(for: Self.senders, id: Self.id)
        }
        #expect(missing?.code == .notFound)
    }

    @Test func `A program wraps the keyset's key with the keyset's id and name in its environment`() throws {
        let script = #"""
            #!/bin/sh
            echo "$1 $PUSHCRYPT_KEYSET_ID $PUSHCRYPT_KEYSET_NAME" >> '\#(place.path("log"))'
            case $1 in
            wrap) printf W; LC_ALL=C tr '\000-\377' '\200-\377\000-\177' ;;
            unwrap) dd bs=1 skip=1 2>/dev/null | LC_ALL=C tr '\000-\377' '\200-\377\000-\177' ;;
            esac
            """#
        let name = "it's here/kms"
        try place.write(script, to: "etc/\(name)", mode: 0o755)
        let settings = try place.settings(#"{"secret": {"command": "\#(name)"}}"#)
        let secret = try #require(try settings.secret(for: Self.senders, id: Self.id))
        _ = try KeysetSecrets(ofLog: [(SecretName("kms")!, secret)])
        let log = try String(contentsOfFile: place.path("log"), encoding: .utf8)
        #expect(log == "wrap \(Self.id) senders\nunwrap \(Self.id) senders\n")
        try place.setMode(0o777, of: "etc/it's here")
        #expect(throws: SettingsError(.writableByOthers, place.path("etc/it's here"), "secret.command")) {
            try settings.secret(for: Self.senders, id: Self.id)
        }
    }

    private func settings(_ place: SettingsPlace, _ script: String, mode: Int = 0o755) throws -> Settings {
        try place.write(script, to: "etc/after", mode: mode)
        return try place.settings(#"{"after": "after"}"#)
    }

    @Test(
        "The end of the program is a result",
        arguments: [
            ("#!/bin/sh\nexit 0", 0o755, Settings.ProgramResult.ended(.exit(0))),
            ("#!/bin/sh\nexit 137", 0o755, .ended(.exit(137))), ("#!/bin/sh\nkill -9 $$", 0o755, .ended(.signal(9))),
            ("#!/bin/sh\nexit 0", 0o644, .notStarted(systemError: EACCES)),
            ("exit 0", 0o755, .notStarted(systemError: ENOEXEC)),
            ("#!/none/sh\n", 0o755, .notStarted(systemError: ENOENT)),
        ])
    func endings(_ script: String, _ mode: Int, _ result: Settings.ProgramResult) throws {
        #expect(try settings(place, script, mode: mode).runAfter() == result)
    }

    @Test func `Without a program nothing runs, and a program that is missing is an error`() throws {
        #expect(try place.settings("{}").runAfter() == nil)
        try FileSystem.makeFolders(place.path("etc"))
        #expect(throws: SettingsError(.missing, place.path("etc/after"), "after")) {
            try place.settings(#"{"after": "after"}"#).runAfter()
        }
    }

    @Test func `A program that runs for more than ten minutes is killed`() throws {
        let begun = place.path("begun")
        let settings = try settings(place, "#!/bin/sh\n: > '\(begun)'\nexec sleep 1000")
        let start = ContinuousClock.now
        #expect(try settings.runAfter { FileSystem.exists(begun) ? start + .seconds(601) : start } == .ended(.late))
    }

    @Test func `The program gets the path of the settings, the known variables, no argument and no input`() throws {
        var place = place
        place.variables = [
            "PATH": "/usr/bin:/bin", "HOME": "/home/a", "AWS_SECRET_ACCESS_KEY": "b", "PUSHCRYPT_PASSPHRASE": "c",
        ]
        let out = place.path("out")
        let settings = try settings(place, "#!/bin/sh\n{ echo \"$#\"; cat; env; } > '\(out)'")
        #expect(try settings.runAfter() == .ended(.exit(0)))
        let lines = try String(contentsOfFile: out, encoding: .utf8).split(separator: "\n").map(String.init)
        // A shell adds these.
        let known = lines.filter { line in !["PWD=", "OLDPWD=", "SHLVL=", "_="].contains { line.hasPrefix($0) } }
        #expect(known.sorted() == ["0", "HOME=/home/a", "PATH=/usr/bin:/bin", "PUSHCRYPT_SETTINGS=\(settings.path)"])
    }

    @Test func `A program that others could replace doesn't run`() throws {
        let settings = try settings(place, "#!/bin/sh\n: > '\(place.path("ran"))'")
        for (mode, name, usual) in [(0o775, "etc/after", 0o755), (0o777, "etc", 0o700), (0o1777, "etc", 0o700)] {
            try place.setMode(mode, of: name)
            let code: SettingsError.Code = mode & 0o1000 == 0 ? .writableByOthers : .stickyFolder
            #expect(throws: SettingsError(code, place.path(name), "after")) { try settings.runAfter() }
            try place.setMode(usual, of: name)
        }
        #expect(!FileSystem.exists(place.path("ran")))
        #expect(try settings.runAfter() == .ended(.exit(0)))
        #expect(FileSystem.exists(place.path("ran")))
    }
}
