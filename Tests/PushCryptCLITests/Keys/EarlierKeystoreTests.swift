import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Keystores that the tool of earlier commits wrote. Tests/Vectors/README.md says which commits and how.
@Suite("keystores of earlier versions", .ownThreads)
struct EarlierKeystoreTests {
    /// What was new in the files of the keystore.
    enum Stage: String, CaseIterable {
        case plain, encrypted, signed, several
    }

    static let names = ["phone", "backend", "fleet"]
    private static let inner = Data(#"{"aps":{"alert":{"title":"Results","body":"All clear."}}}"#.utf8)
    /// A day after the pushes were sealed. The first keys seal until 1 April.
    private static let time = "2026-03-29T12:00:00Z"

    /// Copies the files of a stage with the modes that the tool gives them: git doesn't keep them.
    private static func place(_ stage: Stage) throws -> Workplace {
        let place = try Workplace()
        let source = Vectors.own("Keystores")
        for path in try FileManager.default.subpathsOfDirectory(atPath: source.path).sorted() {
            guard path == "kms" || path.hasPrefix(stage.rawValue + "/") else { continue }
            let target = String(path.split(separator: "/", maxSplits: 1).last!)
            let file = source.appendingPathComponent(path)
            if try file.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true {
                try place.makeFolder(target)
            } else {
                let mode = path == "kms" ? 0o700 : path.hasSuffix("public.jwks.json") ? 0o644 : 0o600
                try place.write(Data(contentsOf: file), to: target, mode: mode)
            }
        }
        return place
    }

    private static func secret(_ stage: Stage, _ name: String) -> [String] {
        if stage == .plain { return [] }
        return name == "fleet" ? ["--wrap-command", "./kms"] : ["--passphrase-file", "passphrase"]
    }

    private func run(_ arguments: [String], _ stage: Stage, _ place: Workplace, stdin: Data = Data()) throws -> Output {
        try CLI.start(
            arguments, stdin: stdin, in: place.folder.url, environment: ["PUSHCRYPT_WRITER": "writer-of-the-vectors"]
        ).wait()
    }

    private func opened(_ name: String, _ stage: Stage, _ place: Workplace, at time: String = time) throws -> Output {
        var options = ["--keys", "Keys/\(name)", "--topic", Workplace.topic, "--at", time] + Self.secret(stage, name)
        if name == "fleet", stage != .plain, stage != .encrypted { options += ["--device", "phone-7"] }
        if name == "phone" { options += try trust(stage, place, at: time) }
        return try run(["open"] + options, stage, place, stdin: place.read("\(name).json"))
    }

    /// The options for the senders of a push. The stored signed set is used on its day, and afterwards a new one.
    private func trust(_ stage: Stage, _ place: Workplace, at time: String) throws -> [String] {
        let isSigned = stage == .signed
        if !isSigned || time != Self.time {
            let exported = try run(
                ["keys", "export", "Keys/backend", "--at", time] + (isSigned ? ["--signed-by", "Signer/app"] : [])
                    + Self.secret(stage, "backend"), stage, place)
            #expect(exported.exit == 0, "\(exported)")
            try place.write(exported.stdout, to: "senders.json")
        }
        return ["--trust", "senders.json"] + (isSigned ? ["--pins", "pins.json"] : [])
    }

    @Test("today's tool lists and verifies each keyset, and the library loads it", arguments: Stage.allCases, names)
    func reading(_ stage: Stage, _ name: String) throws {
        let place = try Self.place(stage)
        let before = try place.contents(of: "Keys")
        let secret = Self.secret(stage, name)
        for command in ["list", "verify"] {
            let output = try run(
                ["keys", command, "Keys/\(name)", "--at", Self.time] + (command == "verify" ? secret : []), stage, place
            )
            #expect(output.exit == 0 && !output.text.isEmpty, "\(output)")
        }
        // The library runs the command in the folder of this process.
        let command = "'\(place.folder.file("kms").path)'"
        let keyset = try Keyset(
            folder: place.folder.file("Keys/\(name)").path,
            secret: secret.isEmpty
                ? nil
                : name == "fleet"
                    ? .command(command) : .passphrase(SecretBytes(copying: Array("correct horse".utf8).bytes)))
        #expect(keyset.kind.rawValue == ["phone": "recipient", "backend": "sender", "fleet": "shared"][name])
        // `verify` writes the published set that the first version didn't have.
        #expect(try place.contents(of: "Keys").filter { before.keys.contains($0.key) } == before)
    }

    @Test("a push that was sealed then opens to its text, before and after a rotation", arguments: Stage.allCases)
    func pushes(_ stage: Stage) throws {
        let place = try Self.place(stage)
        for name in ["phone", "fleet"] {
            let output = try opened(name, stage, place)
            #expect(output.exit == 0 && output.payload == Self.inner, "\(name): \(output)")
        }
        for name in Self.names {
            try rotate(name, stage, place)
        }
        for name in ["phone", "fleet"] {
            let output = try opened(name, stage, place, at: "2026-04-20T12:00:00Z")
            #expect(output.exit == 0 && output.payload == Self.inner, "\(name): \(output)")
        }
    }

    /// Rotates until another key seals. The file then has everything that today's tool writes.
    private func rotate(_ name: String, _ stage: Stage, _ place: Workplace) throws {
        let secret = Self.secret(stage, name)
        let before = try place.keys("Keys/\(name)", at: Self.time).first { $0.state == "primary" }
        for (time, options) in [(Self.time, ["--now"]), ("2026-04-06T12:00:00Z", [])] {
            let output = try run(["rotate", "Keys/\(name)", "--at", time] + options + secret, stage, place)
            #expect(output.exit == 0, "\(output)")
        }
        let after = try place.keys("Keys/\(name)", at: "2026-04-06T12:00:00Z").first { $0.state == "primary" }
        #expect(before != nil && after != nil && before?.kid != after?.kid, "\(name)")
        let metadata = try KeysetFolder(place.folder.file("Keys/\(name)").path).file().metadata
        #expect(metadata.writer == "writer-of-the-vectors" && metadata.audit.count > 0)
        let verified = try run(
            ["keys", "verify", "Keys/\(name)", "--at", "2026-04-06T12:00:00Z"] + secret, stage, place)
        #expect(verified.exit == 0, "\(verified)")
        let log = try run(["keys", "log", "Keys/\(name)", "--verify"], stage, place)
        #expect(log.exit == 0 && log.text.hasPrefix("whole: "), "\(log)")
    }

    @Test("doctor finds no error in any of them", arguments: Stage.allCases)
    func doctor(_ stage: Stage) throws {
        let place = try Self.place(stage)
        let output = try run(["keys", "doctor", "Keys", "--at", Self.time, "--json"], stage, place)
        #expect(output.exit == 0 && !output.text.contains(#""severity" : "error""#), "\(output)")
        #expect(!output.text.contains("unknown-member"), "\(output)")
    }

    @Test("recipients of an earlier directory are sealed to")
    func directory() throws {
        let place = try Self.place(.signed)
        let checked = try place.run("recipients", "check", "recipients.db")
        #expect(checked.exit == 0, "\(checked)")
        let kid = try #require(try place.keys("Keys/phone", at: Self.time).first?.kid)
        let line = Data(#"{"to":"\#(kid)","payload":{"aps":{"alert":"x"}}}"#.utf8 + [UInt8(ascii: "\n")])
        let sealed = try place.run(
            ["seal", "--batch", "--recipients", "recipients.db", "--topic", Workplace.topic, "--at", Self.time],
            stdin: line)
        #expect(sealed.exit == 0, "\(sealed)")
    }

    @Test("a backup of an earlier version is restored, and its push opens")
    func backup() throws {
        let place = try Self.place(.several)
        try place.move("Keys", to: "Lost")
        for name in Self.names {
            let output = try run(
                ["keys", "restore", "--from", "Keys.backup", "Keys/\(name)", "--at", Self.time]
                    + Self.secret(.several, name),
                .several, place)
            #expect(output.exit == 0, "\(output)")
        }
        #expect(try opened("phone", .several, place).payload == Self.inner)
    }

    static let commands = [
        "keys list", "keys show KID", "keys verify SECRET", "keys export SECRET", "keys policy",
        "keys policy --keep 3 SECRET",
        "keys add SECRET", "keys revoke KID --yes SECRET", "keys passwd --insecure-plaintext SECRET", "rotate SECRET",
        "rotate --dry-run", "keys secrets list",
    ]

    @Test(
        "a keyset of a later version is refused with 65, its version and what to do, and nothing is changed",
        arguments: commands, [Stage.encrypted, .several])
    func later(_ command: String, _ stage: Stage) throws {
        let place = try Self.place(stage)
        let kid = try #require(try place.keys("Keys/phone", at: Self.time).first?.kid)
        try place.edit("Keys/phone/keyset.json") {
            $0.replacing(stage == .several ? "{\"v\": 2," : "{\"v\": 1,", with: "{\"v\": 3,")
        }
        let before = try place.contents(of: "Keys")
        var words = command.split(separator: " ").map(String.init)
        words.insert("Keys/phone", at: words.first == "rotate" ? 1 : words[1] == "secrets" ? 3 : 2)
        words = words.flatMap { $0 == "SECRET" ? Self.secret(stage, "phone") : $0 == "KID" ? [kid] : [$0] }
        if words[1] != "secrets" { words += ["--at", Self.time] }
        let output = try run(words, stage, place)
        #expect(output.exit == 65 && output.stderr.contains("Keys/phone"), "\(output)")
        // `verify` prints its findings to stdout.
        let text = words[1] == "verify" ? output.text : output.stderr
        #expect(
            text.contains("encrypted in version 3, and this pushcrypt reads versions 1 and 2: use a newer pushcrypt"),
            "\(output)")
        #expect(!text.contains("restore"), "\(output)")
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test("status is critical for a keyset of a later version and says to keep it; rotate --all rotates the others")
    func laterAmongOthers() throws {
        let place = try Self.place(.encrypted)
        try place.edit("Keys/phone/keyset.json") { $0.replacing("{\"v\": 1,", with: "{\"v\": 3,") }
        try place.remove("Keys/fleet")
        let secret = Self.secret(.encrypted, "backend")
        let rotated = try run(["rotate", "--all", "Keys", "--at", "2026-03-29T12:00:00Z"] + secret, .encrypted, place)
        #expect(rotated.exit == 65 && rotated.text.contains("Keys/backend at"), "\(rotated)")
        let status = try run(["status", "Keys", "--at", "2026-03-29T12:00:00Z"], .encrypted, place)
        #expect(status.exit == 2 && status.text.contains("version 3"), "\(status)")
        #expect(status.text.contains("keep the file") && !status.text.contains("restore"), "\(status)")
    }
}
