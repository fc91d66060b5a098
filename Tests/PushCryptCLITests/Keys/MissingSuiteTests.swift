import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

/// An intact keyset with a key of suite 3, on a host whose OpenSSL may lack the suite.
@Suite("a keyset of suite 3 from another host", .ownThreads)
struct MissingSuiteTests {
    private static let hasSuite = PushCryptCore.Suite.xWing.isAvailable
    private static let path = "Keys/r"
    private static let at = ["--at", Workplace.now]
    private static let sealing = ["--backup-passphrase-file", "backup-pass"]
    private static let cause = "has no ML-KEM: suite 3 (xwing) needs OpenSSL 3.5 or later. The keyset isn't damaged"

    /// A key of suite 3, made with a library that has the suite on every host.
    private static func record() throws -> KeyRecord {
        let backend = try #require(Backends.supporting(.xWing).last).backend
        return try KeyRecord.generate(.recipient, type: .xWing, psk: false, backend: backend)
    }

    private static func jwk(_ record: KeyRecord) throws -> Data {
        var bytes = [UInt8]()
        try record.appendJWK(to: &bytes)
        return Data(bytes)
    }

    /// A place with a keyset that another host gave a key of suite 3, and its kid. `earlier` is a backup from before.
    private static func make(isEncrypted: Bool = false) throws -> (place: Workplace, kid: String) {
        let place = try Workplace()
        try place.write(Data("a long winter".utf8), to: "backup-pass")
        if isEncrypted {
            try place.createEncrypted(path, .recipient)
        } else {
            try place.create(path, "recipient")
        }
        let backup = try place.run(["keys", "backup", path, "--to", "earlier"] + sealing + at)
        try #require(backup.isSuccess, "\(backup)")
        let record = try record()
        let folder = place.folder.file(path).path
        let secret: KeysetSecret? =
            isEncrypted ? .passphrase(SecretBytes(copying: Array("correct horse".utf8).bytes)) : nil
        let stored = try KeysetFolder(folder).file().unlocked(SecretSource(secret))
        let time = try #require(UnixTime(rfc3339: Workplace.now))
        var editor = KeysetEditor(stored, at: time)
        try editor.add(record, activatesAt: time + 86_400, as: .added)
        let actor = Actor(name: "tester", reason: nil, writer: CLI.writer)
        let finished = try editor.finished(by: actor, at: folder)
        try place.write(Data(finished.fileText()), to: "\(path)/keyset.json")
        try place.write(Data(#require(try finished.published())), to: "\(path)/public.jwks.json", mode: 0o644)
        let log = try place.read("\(path)/audit.jsonl")
        let lines = AuditLog.bytes(of: finished.metadata.audit.lastLines)
        try place.write(log + Data(lines), to: "\(path)/audit.jsonl")
        try place.settle("Keys")
        return (place, "\(record.kid)")
    }

    @Test(
        "without OpenSSL 3.5, status, doctor and verify say that it isn't damaged and what it needs, and advise no restore",
        arguments: [false, true])
    func examination(isEncrypted: Bool) throws {
        let (place, kid) = try Self.make(isEncrypted: isEncrypted)
        let doctor = try place.run(["keys", "doctor", "Keys"] + Self.at)
        let status = try place.run(["status", "Keys"] + Self.at)
        let verified = try place.run(["keys", "verify", Self.path] + Self.at)
        #expect(verified.exit == 0, "\(verified)")
        for output in [doctor, status, verified] {
            let text = output.text.replacing(/\s+/, with: " ")
            #expect(!text.contains("keys restore"), "\(output)")
            #expect(text.contains("key \(kid): OpenSSL") != Self.hasSuite, "\(output)")
            #expect(text.contains(Self.cause) != Self.hasSuite, "\(output)")
            #expect(
                text.contains("update OpenSSL on this host, or work on the host that has it") != Self.hasSuite,
                "\(output)")
        }
        // Keys in plain text and a cheap passphrase are warnings.
        #expect(doctor.exit == (Self.hasSuite ? 0 : 65) && status.exit == (Self.hasSuite ? 1 : 2), "\(status)")
        let json = try place.run(["keys", "doctor", "Keys", "--json"] + Self.at)
        let errors = try #require(JSONSerialization.jsonObject(with: json.stdout) as? [[String: Any]])
            .filter { $0["severity"] as? String == "error" }.map { $0["code"] as? String }
        #expect(errors == (Self.hasSuite ? [] : ["unsupported-suite"]))
    }

    @Test("its keys are listed on every host, and rotate without OpenSSL 3.5 exits 69 and names the key")
    func listed() throws {
        let (place, kid) = try Self.make()
        let listed = try place.run(["keys", "list", Self.path, "--json"] + Self.at)
        let keys = try #require(JSONSerialization.jsonObject(with: listed.stdout) as? [[String: Any]], "\(listed)")
        #expect(keys.map { $0["suite"] as? String } == ["p256", "xwing"])
        let rotated = try place.run(["rotate", Self.path] + Self.at)
        guard !Self.hasSuite else { return #expect(rotated.exit == 0, "\(rotated)") }
        expectRefusal(rotated, 69, saying: "Keys/r: key \(kid): OpenSSL")
        #expect(rotated.stderr.contains(Self.cause), "\(rotated)")
    }

    @Test("without OpenSSL 3.5, keys restore doesn't replace it by an earlier backup: it exits 69 and changes nothing")
    func replacement() throws {
        let (place, kid) = try Self.make()
        let before = try place.contents(of: Self.path)
        let command = ["keys", "restore", "--from", "earlier", Self.path] + Self.sealing + Self.at
        let refused = try place.run(command)
        guard !Self.hasSuite else { return expectRefusal(refused, 75, saying: "added \(kid)") }
        for output in try [refused, place.run(command + ["--back-in-time"])] {
            expectRefusal(output, 69, saying: "key \(kid): OpenSSL")
            #expect(output.stderr.contains(Self.cause), "\(output)")
            #expect(output.stderr.contains("It isn't replaced: update OpenSSL on this host"), "\(output)")
        }
        #expect(try place.contents(of: Self.path) == before)
    }

    @Test(
        "a backup of it is made on every host, and restored without OpenSSL 3.5 it exits 69 and writes nothing",
        arguments: [false, true])
    func backup(isEncrypted: Bool) throws {
        let (place, kid) = try Self.make(isEncrypted: isEncrypted)
        let made = try place.run(["keys", "backup", Self.path, "--to", "new"] + Self.sealing + Self.at)
        try #require(made.isSuccess, "\(made)")
        _ = try place.shell("rm -r Keys/r")
        let secret = isEncrypted ? ["--passphrase-file", "passphrase"] : []
        let restored = try place.run(["keys", "restore", "--from", "new"] + Self.sealing + Self.at + secret)
        guard !Self.hasSuite else { return #expect(restored.exit == 0, "\(restored)") }
        expectRefusal(restored, 69, saying: "key \(kid): OpenSSL")
        #expect(restored.stderr.contains(Self.cause), "\(restored)")
        #expect(!place.has("Keys/r"))
    }

    @Test("without OpenSSL 3.5, recipients import exits 69 for a record of suite 3, and names the line and the cause")
    func recipients() throws {
        let place = try Workplace()
        let record = try Self.record()
        try place.write(Self.jwk(record.publicRecord(keepingPSK: true)) + Data("\n".utf8), to: "lines")
        let output = try place.run("recipients", "import", "lines", "--into", "directory")
        guard !Self.hasSuite else { return #expect(output.exit == 0, "\(output)") }
        expectRefusal(output, 69, saying: "lines: line 1: key \(record.kid): OpenSSL")
        #expect(output.stderr.contains("suite 3 (xwing) needs OpenSSL 3.5"), "\(output)")
    }

    @Test("without OpenSSL 3.5, keys import of a raw key of suite 3 exits 69 and names the cause")
    func rawKey() throws {
        let place = try Workplace()
        try place.write(Data(Base64URL.encode([UInt8](repeating: 7, count: 32)).utf8), to: "raw")
        let command = ["keys", "import", Self.path, "--from", "raw", "--kind", "recipient", "--suite", "xwing"]
        let output = try place.run(command + ["--insecure-plaintext"] + Self.at)
        guard !Self.hasSuite else { return #expect(output.exit == 0, "\(output)") }
        expectRefusal(output, 69, saying: "suite 3 (xwing) needs OpenSSL 3.5 or later")
        #expect(!place.has(Self.path))
    }

    @Test("without OpenSSL 3.5, diagnose says that this host lacks the suite of the record, and keeps the record")
    func diagnosis() async throws {
        let app = try await InstalledApp()
        let record = try Self.jwk(Self.record().publicRecord(keepingPSK: true))
        let diagnosed = try app.diagnose(app.seal(), "--registration", app.write(record, to: "xwing.json"))
        #expect(diagnosed.errors.contains("registration-unsupported-suite") != Self.hasSuite, "\(diagnosed.text)")
        let text = diagnosed.text.replacing(/\s+/, with: " ")
        #expect(text.contains("suite 3 (xwing) needs OpenSSL 3.5") != Self.hasSuite, "\(diagnosed.text)")
        #expect(!diagnosed.errors.contains("registration-unreadable"), "\(diagnosed.text)")
    }
}
