import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("the files of encrypted keysets", .ownThreads)
struct NothingInClearTests {
    private static let at = "--at \(Workplace.now)"

    private func expectNothingInClear(
        _ secrets: [String], _ encrypted: EncryptedPlace, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let everything = try encrypted.everything(in: "Keys")
        #expect(everything.contains("\"sealed\""), sourceLocation: sourceLocation)
        for secret in secrets + [#""d":"#, #""k":"#, #""psk":""#, "\"kty\":\"oct\""] {
            #expect(!everything.contains(secret), "\(secret)", sourceLocation: sourceLocation)
        }
    }

    @Test(
        "the files of an encrypted keyset contain no plain key after every change",
        arguments: LongTests.areEnabled ? EncryptedPlace.Source.allCases : [.file, .command])
    func changes(_ source: EncryptedPlace.Source) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .recipient, psk: true, isCommand: source.isCommand)
        try encrypted.create("Keys/app", .shared, isCommand: source.isCommand)
        for command in [
            "rotate Keys/ios --now \(Self.at)", "keys add Keys/app \(Self.at)",
            "rotate --all --at 2026-06-20T00:00:00Z",
            "keys policy Keys/app --keep 4 --at 2026-06-21T00:00:00Z",
        ] {
            let output = try encrypted.run(command, source)
            try #require(output.exit == 0, "\(output)")
        }
        let secrets = try ["Keys/ios", "Keys/app"].flatMap { path in try encrypted.secrets(of: path, source) }
        #expect(secrets.count >= 6)
        try expectNothingInClear(secrets, encrypted)
    }

    static let killedCommands = [
        "keys add Keys/ios --force \(at) --passphrase-file pass",
        "keys passwd Keys/ios --new-wrap-command 'sh kms' \(at) --passphrase-file pass",
    ]

    /// The temporary file remains, complete or not, and its keys are encrypted.
    @Test(
        "a killed change leaves no plain key in any file", arguments: ["created", "written", "synced"], killedCommands)
    func killed(_ point: String, _ command: String) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .recipient, psk: true)
        let (secrets, before) = (
            try encrypted.secrets(of: "Keys/ios"), try encrypted.place.read("Keys/ios/keyset.json")
        )
        let output = try encrypted.place.shell("PUSHCRYPT_FAULT_POINT=keyset-\(point) \"$PUSHCRYPT\" \(command)")
        #expect(output.exit == 137 || output.exit == nil, "\(output)")
        let leftovers = try encrypted.place.names(in: "Keys/ios").filter { $0.hasPrefix("keyset.json.new-") }
        #expect(leftovers.count == 1)
        let left = try encrypted.place.read("Keys/ios/\(leftovers[0])")
        #expect(left.isEmpty == (point == "created"))
        #expect(try encrypted.place.read("Keys/ios/keyset.json") == before)
        try expectNothingInClear(secrets, encrypted)
    }

    @Test("a killed keys create leaves no plain key in any file", arguments: ["created", "written", "synced"])
    func killedCreation(_ point: String) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.create("Keys/other", .sender)
        let output = try encrypted.place.shell(
            "PUSHCRYPT_FAULT_POINT=keyset-\(point) \"$PUSHCRYPT\" keys create Keys/ios --kind shared --wrap-command 'sh kms'"
        )
        #expect(output.exit == 137 || output.exit == nil, "\(output)")
        #expect(try encrypted.place.names(in: "Keys").contains { $0.hasPrefix(".new-") })
        try expectNothingInClear([], encrypted)
    }

    /// The old plain file remains until the new one is complete.
    @Test("a killed encryption leaves the old file and an encrypted one")
    func killedEncryption() throws {
        let encrypted = try EncryptedPlace()
        try encrypted.place.create("Keys/ios", "shared")
        let secrets = try encrypted.place.secrets(in: "Keys/ios/keyset.json")
        _ = try encrypted.place.shell(
            "PUSHCRYPT_FAULT_POINT=keyset-synced \"$PUSHCRYPT\" keys passwd Keys/ios --new-wrap-command 'sh kms' \(Self.at)"
        )
        let leftover = try #require(
            try encrypted.place.names(in: "Keys/ios").first { $0.hasPrefix("keyset.json.new-") })
        let left = String(decoding: try encrypted.place.read("Keys/ios/\(leftover)"), as: UTF8.self)
        #expect(left.contains("\"sealed\"") && !left.contains(secrets[0]))
        let done = try encrypted.runWithoutSecret("keys passwd Keys/ios --new-wrap-command 'sh kms' \(Self.at)")
        #expect(done.exit == 0 && done.stderr.contains("discarded \(leftover)"), "\(done)")
        try expectNothingInClear(secrets, encrypted)
    }
}
