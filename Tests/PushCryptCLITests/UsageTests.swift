import Foundation
import PushCryptTestSupport
import Testing

@Suite("bad usage", .ownThreads)
struct UsageTests {
    static let seal = ["seal", "--to", "Keys/ios", "--topic", "com.example.app"]
    static let open = ["open", "--keys", "Keys/ios", "--topic", "com.example.app"]

    static let cases: [[String]] =
        [
            [], ["keys"], ["keys", "secret"], ["blob"], ["recipients"], ["nope"], ["keys", "nope"],
            ["keys", "destroy"], ["--nope"], ["seal"], ["open"], ["keys", "create"],
            ["seal", "--to", "Keys/ios"], ["seal", "--topic", "a"], ["open", "--keys", "Keys/ios"],
            ["open", "--topic", "a"], ["demo", "more"], seal + ["more", "x"], open + ["more", "x"],
        ]
        + [
            ["--limit", "0"], ["--limit", "-1"], ["--limit", "5000"], ["--limit", "4097"], ["--limit", "many"],
            ["--limit", "99999999999999999999"], ["--pad", "0"], ["--pad", "-1"], ["--pad", "min"], ["--pad", ""],
            ["--pad", "99999999999999999999"], ["--expires", "31d"], ["--expose", "alert"], ["--at", "now"],
            ["--device", "one"], ["--device", "o n e"], ["--device", ""], ["--placeholder-title", ""], ["--to"],
        ].map { seal + $0 }
        + [["--device", "one"], ["--device", ""], ["--at", "now"], ["--trust"], ["--limit", "1"]].map { open + $0 }

    @Test("bad usage exits 64 with a message and an empty stdout", arguments: cases)
    func usage(_ arguments: [String]) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        expectUsageError(try place.run(arguments, stdin: Workplace.inner))
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

    @Test(
        "a bad topic exits 64 with one line",
        arguments: [
            "bad topic", "com.example.app\n", "com.exämple.app", "a/b", "a_b", String(repeating: "a", count: 156),
            "com..example", "com.example.app.", ".example", ".",
        ])
    func topics(_ topic: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let keys = ["--keys", "Keys/ios", "--topic", topic]
        for command in [
            ["seal", "--to", "Keys/ios", "--topic", topic], ["open"] + keys, ["open", "--batch"] + keys,
            ["seal", "--batch", "--topic", topic], ["inspect"] + keys, ["simulate"] + keys, ["diagnose"] + keys,
            ["diagnose", "--topic", topic],
        ] {
            expectRefusal(
                try place.run(command, stdin: Workplace.inner), 64, saying: "a topic is the app's bundle identifier")
        }
    }

    @Test(
        "a bad device id exits 64 with one line",
        arguments: ["o n e", "é", "a/b", "a.b", String(repeating: "a", count: 65)])
    func devices(_ device: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        expectRefusal(try place.seal(to: "Keys/ios", "--device", device), 64, saying: "device id")
        expectRefusal(try place.open(keys: "Keys/ios", "--device", device, payload: Data()), 64, saying: "device id")
    }

    @Test("the longest topic and device id are accepted")
    func longest() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        let topic = String(repeating: "a.-9", count: 38) + "abc"
        let device = String(repeating: "aZ_-", count: 16)
        let sealed = try place.sealed(to: "Keys/ios", "--topic", topic, "--device", device)
        #expect(try place.open(keys: "Keys/ios", "--topic", topic, "--device", device, payload: sealed).isSuccess)
    }

    @Test("a name with control characters is shown escaped in one line")
    func names() throws {
        let output = try CLI.run(["keys", "list", "no\nsuch\u{1b}[2J\u{202e}file"])
        expectRefusal(output, 66)
        #expect(!output.stderr.unicodeScalars.contains("\u{1b}"))
    }
}
