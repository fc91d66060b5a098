import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// What commands advise about a `keyset.json` that can't be read.
@Suite("advice about a damaged keyset", .ownThreads)
struct DamagedKeysetAdviceTests {
    static let damages = [
        "sed -i 's/\"seq\": 1/\"seq\": 7/' Keys/app/keyset.json", "echo '{}' > Keys/app/keyset.json",
        "rm Keys/app/keyset.json",
        "sed -i -e 's/\"seq\": 1/\"seq\": 7/' -e 's/^  },$/  }/' -e '/\"digest\"/d' Keys/app/keyset.json",
    ]
    static let commands = [
        "rotate Keys/app", "rotate Keys/app --dry-run --check-secret",
        "rotate Keys/app --emergency --revoke qi99zniTdWc",
        "keys policy Keys/app --keep 3", "keys add Keys/app --force", "keys log Keys/app",
        "keys backup Keys/app --to b",
        "keys passwd Keys/app --new-passphrase-file passphrase", "keys publish Keys/app --to www",
        "keys export Keys/app --private --insecure-plaintext", "keys restore Keys/app",
        "seal --to Keys/public --sign-with Keys/app --topic com.example.app",
    ]

    @Test(
        "every command repeats the given secret in the restore that it advises", arguments: damages, commands)
    func secret(_ damage: String, _ command: String) throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/app", .sender)
        try place.create("other/phone", "recipient")
        try place.write(Data(try place.publicJWK("other/phone").utf8), to: "Keys/public")
        #expect(try place.shell(damage).isSuccess)
        let output = try place.run(
            command.split(separator: " ").map(String.init) + ["--passphrase-file", "passphrase"]
                + (command.hasPrefix("keys export") ? [] : ["--at", Workplace.now]), stdin: Workplace.inner)
        #expect(output.exit == 65 || output.exit == 66, "\(output)")
        let advised = "`pushcrypt keys restore --from FILE Keys/app --passphrase-file passphrase`"
        #expect(output.stderr.contains(advised), "\(output)")
    }

    @Test("an edited encrypted keyset: the advice is a restore, and not to remove the digest")
    func encrypted() throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/app", .sender)
        _ = try place.shell(Self.damages[0])
        let output = try place.run("rotate", "Keys/app", "--passphrase-file", "passphrase")
        expectRefusal(output, 65, saying: "An edit can't be kept, because the encryption also protects the metadata")
        #expect(!output.stderr.contains("\"digest\""), "\(output)")
    }

    @Test("an edited plain keyset: without its digest, as advised, the edit is kept")
    func plain() throws {
        let place = try Workplace()
        try place.create("Keys/app", "sender")
        _ = try place.shell("sed -i 's/\"keep\": 2/\"keep\": 3/' Keys/app/keyset.json")
        let refused = try place.run("keys", "policy", "Keys/app")
        expectRefusal(refused, 65, saying: "If you edited it and want to keep that, remove its member \"digest\"")
        let edited = try place.readForEditing("Keys/app/keyset.json")
        try place.write(edited, to: "Keys/app/keyset.json")
        let kept = try place.succeed("keys", "policy", "Keys/app")
        #expect(kept.text.contains("keep          3"), "\(kept)")
    }
}
