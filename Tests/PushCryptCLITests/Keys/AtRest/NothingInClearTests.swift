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

    @Test("the files of an encrypted keyset contain no plain key after every change", arguments: [false, true])
    func changes(isCommand: Bool) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .recipient, psk: true, isCommand: isCommand)
        try encrypted.create("Keys/app", .shared, isCommand: isCommand)
        for command in [
            "rotate Keys/ios --now \(Self.at)", "rotate Keys/app --now \(Self.at)",
            "keys policy Keys/app --keep 4 --at 2026-03-02T00:00:00Z",
        ] {
            let output = try encrypted.run(command, isCommand ? .command : .file)
            try #require(output.exit == 0, "\(output)")
        }
        let secrets = try ["Keys/ios", "Keys/app"].flatMap { try encrypted.secrets(of: $0, isCommand: isCommand) }
        #expect(secrets.count >= 6)
        try expectNothingInClear(secrets, encrypted)
    }

    /// The temporary file remains, complete or not, and its keys are encrypted.
    @Test(
        "a killed change leaves the old keyset, and no plain key in any file",
        arguments: ["created", "written", "synced"],
        [
            "keys policy Keys/ios --keep 5 \(at) --passphrase-file pass",
            "keys secret set Keys/ios --new-wrap-command 'sh kms' \(at) --passphrase-file pass",
            "keys create Keys/other --kind shared --wrap-command 'sh kms'",
        ])
    func killed(_ point: String, _ command: String) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .recipient, psk: true)
        let (secrets, before) = (try encrypted.secrets(of: "Keys/ios"), try encrypted.place.read("Keys/ios.keyset"))
        let output = try encrypted.place.shell("PUSHCRYPT_FAULT_POINT=keyset-\(point) \"$PUSHCRYPT\" \(command)")
        #expect(output.exit == 137 || output.exit == nil, "\(output)")
        let leftovers = try encrypted.place.names(in: "Keys").filter { $0.contains(".keyset.new-") }
        #expect(leftovers.count == 1)
        let left = try encrypted.place.read("Keys/\(leftovers[0])")
        #expect(left.isEmpty == (point == "created"))
        #expect(try encrypted.place.read("Keys/ios.keyset") == before && !encrypted.place.has("Keys/other.keyset"))
        try expectNothingInClear(secrets, encrypted)
        #expect(try encrypted.place.shell("\"$PUSHCRYPT\" \(command)").exit == 0)
        #expect(try !encrypted.place.names(in: "Keys").contains { $0.contains(".new-") })
    }

    @Test("a killed encryption leaves the old file beside an encrypted one, and a second one removes it")
    func killedEncryption() throws {
        let encrypted = try EncryptedPlace()
        try encrypted.place.create("Keys/ios", "shared")
        let secrets = try encrypted.place.secrets(in: "Keys/ios")
        let command = "\"$PUSHCRYPT\" keys secret set Keys/ios --new-wrap-command 'sh kms' \(Self.at)"
        _ = try encrypted.place.shell("PUSHCRYPT_FAULT_POINT=keyset-synced \(command)")
        let leftover = try #require(try encrypted.place.names(in: "Keys").first { $0.contains(".keyset.new-") })
        let left = String(decoding: try encrypted.place.read("Keys/\(leftover)"), as: UTF8.self)
        #expect(left.contains("\"sealed\"") && !left.contains(secrets[0]))
        let done = try encrypted.place.shell(command)
        #expect(done.exit == 0, "\(done)")
        try expectNothingInClear(secrets, encrypted)
    }
}
