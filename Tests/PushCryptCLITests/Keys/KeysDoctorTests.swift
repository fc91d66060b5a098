import Foundation
import PushCryptCore
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import pushcrypt

@Suite("keys doctor", .ownThreads)
struct KeysDoctorTests {
    @Test("keys doctor finds nothing in a healthy keystore")
    func healthy() throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/ios", .recipient, scrypt: .standard)
        try place.createEncrypted("Keys/push", .sender, scrypt: .standard)
        try place.write(Data(), to: "Keys/README.md", mode: 0o644)
        try place.settle("Keys")
        let secret = ["--passphrase-file", "passphrase"]
        let output = try place.run(["keys", "doctor", "--at", Workplace.now] + secret)
        #expect(output.isSuccess, "\(output)")
        #expect(output.text == "2 keysets: nothing found\n")
        #expect(
            try place.run("keys", "doctor", "Keys/ios/", "--at", Workplace.now).text == "1 keyset: nothing found\n")
        #expect(try place.run("keys", "doctor", "Keys", "--json", "--at", Workplace.now).text == "[]\n")
    }

    @Test("keys doctor prints errors first and an advice for each finding")
    func transcript() throws {
        let place = try Workplace()
        for name in ["a", "b"] { try place.create("Keys/\(name)", "shared") }
        try place.setMode(0o644, of: "Keys/b/keyset.json")
        try place.write(Data(), to: "Keys/a/notes.txt")
        try place.settle("Keys")
        let output = try place.run("keys", "doctor", "Keys/", "--at", Workplace.now)
        #expect(output.exit == 65, "\(output)")
        #expect(output.stderr == "pushcrypt: Keys/: 1 error\n")
        #expect(
            output.text == """
                error    Keys/b: users other than the owner can open keyset.json
                         chmod 600 Keys/b/keyset.json
                warning  Keys/a: the private keys are not encrypted: a user who can read the file or a copy has them
                         pushcrypt keys passwd Keys/a
                warning  Keys/b: the private keys are not encrypted: a user who can read the file or a copy has them
                         pushcrypt keys passwd Keys/b  # after you have corrected the keyset's error
                note     Keys/a: notes.txt is not a file of the keyset
                         move it to another place; pushcrypt doesn't touch it
                2 keysets: 1 error, 2 warnings, 1 note

                """)
    }

    private static func context(at time: UnixTime?) throws -> KeysetExamination.Context {
        var context = KeysetExamination.Context(at: try #require(time))
        context.writer = CLI.writer
        return context
    }

    @Test("keys doctor reports the defect with its severity and advice, and changes nothing", arguments: DoctorCase.all)
    func finding(_ test: DoctorCase) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try test.damage(place)
        if test.settles { try place.settle("Keys") }
        let before = try place.contents(of: "Keys")
        let examination = try KeystoreExamination(
            place.folder.file("Keys").path, Self.context(at: UnixTime(argument: test.time)))
        let json = String(decoding: try JSONEncoder().encode(examination.findings), as: UTF8.self)
            .replacing("\\/", with: "/").replacing(place.folder.path + "/", with: "")
        let findings = try findings(Data(json.utf8))
        let match = try #require(
            findings.first { $0["code"] == test.code && $0["message"]?.contains(test.words) == true }, "\(json)")
        #expect(match["severity"] == test.severity)
        #expect(match["advice"]?.contains(test.advice) == true, "\(json)")
        #expect(match["keyset"]?.hasPrefix("Keys") == true)
        let codes = findings.compactMap { $0["code"] }.filter { $0 != "plain-text" }.sorted()
        #expect(codes == ([test.code] + test.others).sorted())
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test(
        "a keyset's file of another user is an error",
        .enabled(if: geteuid() == 0, "only root can give files away"))
    func owner() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        _ = try place.shell("cd Keys/ios && chown 65534 keyset.json public.jwks.json")
        try place.settle("Keys")
        let output = try place.run("keys", "doctor", "--json", "--at", Workplace.now)
        let found = try findings(output.stdout)
        #expect(output.exit == 65)
        #expect(found.map { $0["code"] } == ["owner", "owner", "plain-text"])
        #expect(found.map { $0["severity"] } == ["error", "warning", "warning"])
        #expect(found[0]["message"] == "keyset.json belongs to user 65534, and you are user 0")
        #expect(found[0]["advice"] == "chown -R 0 Keys/ios  # as root: the keyset's folder belongs to user 0")
        #expect(found[1]["message"] == "public.jwks.json belongs to user 65534, and you are user 0")
    }

    @Test(
        "a keystore's folder of another user is a warning",
        .enabled(if: geteuid() == 0, "only root can give files away"))
    func ownerOfTheKeystore() throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/ios", .recipient, scrypt: .standard)
        _ = try place.shell("chown 65534 Keys")
        try place.settle("Keys")
        let output = try place.run("keys", "doctor", "--json", "--at", Workplace.now)
        let found = try findings(output.stdout)
        #expect(output.exit == 0, "\(output)")
        #expect(found.map { $0["code"] } == ["owner"])
        #expect(found[0]["message"] == "the folder belongs to user 65534, who can add keysets to it and remove them")
        #expect(found[0]["advice"] == "work as user 65534")
    }

    @Test(
        "files and folders that can't be read are reported as unreadable",
        .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
    func unreadable() throws {
        let place = try Workplace()
        for name in ["file", "folder", "log"] { try place.create("Keys/\(name)", "shared") }
        try place.giveAway()
        try place.setMode(0o000, of: "Keys/file/keyset.json")
        try place.setMode(0o000, of: "Keys/log/audit.jsonl")
        try place.setMode(0o000, of: "Keys/folder")
        let output = try place.shell("\(Unprivileged.prefix) \"$PUSHCRYPT\" keys doctor --json")
        #expect(output.exit == 65, "\(output)")
        let found = try findings(output.stdout).filter { $0["code"] == "unreadable" }
        #expect(found.map { $0["keyset"] } == ["Keys/file", "Keys/folder", "Keys/log"])
    }

    @Test("a path that is no keystore exits 66", arguments: ["none", "file"])
    func missing(_ path: String) throws {
        let place = try Workplace()
        try place.write(Data(), to: "file")
        expectRefusal(try place.run("keys", "doctor", path), 66)
    }

    private func findings(_ json: Data) throws -> [[String: String]] {
        let list = try JSONSerialization.jsonObject(with: json) as? [[String: String]]
        let findings = try #require(list)
        for finding in findings {
            #expect(Set(finding.keys) == ["severity", "keyset", "code", "message", "advice"])
        }
        return findings
    }
}
