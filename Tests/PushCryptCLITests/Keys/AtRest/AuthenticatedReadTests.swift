import Foundation
import PushCryptCore
import Testing

/// Reading commands without a secret trust the file. With a secret they authenticate it, also if they change nothing.
@Suite("metadata that was edited beside encrypted keys", .ownThreads)
struct AuthenticatedReadTests {
    static let commands = [
        "rotate Keys/ios", "rotate Keys/ios --dry-run", "rotate --all", "keys policy Keys/ios",
        "keys log Keys/ios", "keys log Keys/ios --verify",
    ].map { "\($0) --at \(Workplace.now)" }

    @Test(
        "commands with a secret refuse edited metadata even if they have nothing to do; without a secret they accept it",
        arguments: commands)
    func edited(_ command: String) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .shared)
        try encrypted.place.edit("Keys/ios/keyset.json") { $0.replacing("P90D", with: "P36000D") }
        let before = try encrypted.place.contents(of: "Keys")
        let needsSecret = command.hasPrefix("rotate") && !command.contains("--dry-run")
        #expect(try encrypted.runWithoutSecret(command + (needsSecret ? " --no-check-secret" : "")).isSuccess)
        for source in EncryptedPlace.Source.ofPassphrases {
            expectRefusal(try encrypted.run(command, source), 65, saying: "the file is damaged or was changed")
        }
        #expect(try encrypted.place.contents(of: "Keys") == before)
    }

    @Test("a wrong passphrase is refused before edited metadata is checked", arguments: commands)
    func wrongPassphrase(_ command: String) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .shared)
        let output = try encrypted.runWithoutSecret("\(command) --passphrase-file other")
        expectRefusal(output, 77, saying: "the passphrase is wrong")
    }

    /// The state after a crash, made by an attacker who also edited the file.
    @Test("keys verify with a secret doesn't finish a change of edited metadata")
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
