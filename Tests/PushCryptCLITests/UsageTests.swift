import Foundation
import PushCryptTestSupport
import Testing

@Suite("bad usage", .ownThreads)
struct UsageTests {
    /// `OptionMatrixTests` has what isn't a value of an option.
    @Test(
        "an unknown command or option, a missing command, and a value outside its range exit 64",
        arguments: [
            "", "keys", "nope", "keys nope", "--nope", "demo more", "seal --to Keys/ios --topic a.b --limit 4097",
            "seal --to Keys/ios --topic a.b --pad 0", "seal --to Keys/ios --topic a.b --expires 31d",
            "seal --to Keys/ios --topic a.b --expose alert", "seal --to Keys/ios --topic a.b --device one",
            "seal --to Keys/ios --topic a..b", "seal --to Keys/ios --topic a.b --batch --jobs 257",
            "seal --to Keys/ios --topic a.b --batch --resume-from 0", "open --keys Keys/ios --topic a.b --device one",
            "open --keys Keys/ios --topic a.b --fallback inner", "inspect --limit 65537",
            "blob seal --reference r --type A/b", "blob seal --reference r --type a/b --url http://a.b",
            "blob seal --reference r --type a/b --output -", "blob open --reference r --output -",
        ])
    func usage(_ command: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        expectUsageError(try place.run(command.split(separator: " ").map(String.init), stdin: Workplace.inner))
        #expect(try place.names() == ["Keys"])
    }

    /// The settings have keysets that such a command could take in place of what was forgotten.
    @Test(
        "a forgotten argument exits 64 and changes nothing",
        arguments: [
            "rotate --now", "rotate --at-once Keys/fleet", "publish --unsigned", "publish --sign", "publish --to",
            "publish --unsigned set", "revoke --yes", "revoke --yes Keys/fleet", "restore --settings", "init --yes",
            "keys create Keys/new", "keys create --kind sender", "keys import Keys/senders", "keys policy",
            "keys create Keys/ --kind sender --insecure-plaintext", "keys import Keys/ key --insecure-plaintext",
            "keys policy --keep 3", "keys policy Keys/senders --epoch 2", "keys policy Keys/senders --end-epoch",
            "keys destroy --yes", "keys destroy --yes Keys/fleet", "keys export", "keys export --pins",
            "keys secret add Keys/inbox", "keys secret add --name safe", "keys secret set --new-wrap-command ./wrap",
            "keys secret remove Keys/inbox", "keys secret list",
        ])
    func forgotten(_ command: String) throws {
        let place = try ChangingCommand.place()
        let before = try place.contents(of: ".")
        let output = try CLI.start(
            command.split(separator: " ").map(String.init), in: place.folder.url,
            environment: ["PUSHCRYPT_SETTINGS": place.folder.file("pushcrypt.json").path]
        ).wait()
        expectUsageError(output)
        #expect(try place.contents(of: ".") == before)
    }

    @Test("a name with control characters is shown escaped in one line")
    func names() throws {
        let output = try CLI.run(["keys", "list", "no\nsuch\u{1b}[2J\u{202e}file"])
        expectRefusal(output, 66)
        #expect(!output.stderr.unicodeScalars.contains("\u{1b}"))
    }
}
