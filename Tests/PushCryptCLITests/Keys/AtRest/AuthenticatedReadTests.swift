import Foundation
import PushCryptCore
import Testing

/// Reads that need no secret believe the file. With one they authenticate it, also where they end in no change.
@Suite("metadata that was edited beside encrypted keys", .ownThreads)
struct AuthenticatedReadTests {
    static let commands = [
        "rotate Keys/ios", "rotate Keys/ios --dry-run", "rotate --all", "keys policy Keys/ios",
        "keys log Keys/ios", "keys log Keys/ios --verify",
    ].map { "\($0) --at \(Workplace.now)" }

    @Test("is refused by commands with a secret that have nothing to do, and believed without", arguments: commands)
    func edited(_ command: String) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .shared)
        try encrypted.place.edit("Keys/ios/keyset.json") { $0.replacing("P90D", with: "P36000D") }
        let before = try encrypted.place.contents(of: "Keys")
        #expect(try encrypted.runWithoutSecret(command).isSuccess)
        for source in EncryptedPlace.Source.ofPassphrases {
            expectRefusal(try encrypted.run(command, source), 65, saying: "the file is damaged or was changed")
        }
        #expect(try encrypted.place.contents(of: "Keys") == before)
    }

    @Test("isn't judged with a wrong passphrase, which is refused", arguments: commands)
    func wrongPassphrase(_ command: String) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .shared)
        let output = try encrypted.runWithoutSecret("\(command) --passphrase-file other")
        expectRefusal(output, 77, saying: "the passphrase is wrong")
    }

    /// What a crash leaves, made by somebody who edited the file too.
    @Test("isn't finished by keys verify with a secret")
    func verify() throws {
        let encrypted = try EncryptedPlace()
        let place = encrypted.place
        try encrypted.create("Keys/ios", .shared)
        try place.edit("Keys/ios/keyset.json") { $0.replacing("P90D", with: "P36000D") }
        try place.write(Data(), to: "Keys/ios/audit.jsonl")
        try place.write(Data(), to: "Keys/ios/keyset.json.new-AAAAAAAAAAAA")
        let before = try place.contents(of: "Keys")
        let output = try encrypted.run("keys verify Keys/ios --at \(Workplace.now)")
        #expect(output.exit == 65 && output.text.contains("\nbad        keys "), "\(output)")
        #expect(try place.contents(of: "Keys") == before)
    }
}
