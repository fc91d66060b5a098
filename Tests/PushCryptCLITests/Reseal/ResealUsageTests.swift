import Foundation
import Testing

@Suite("usage of reseal", .ownThreads)
struct ResealUsageTests {
    @Test(
        "reseal exits 64 for bad usage and creates no file",
        arguments: [
            [], ["--keys", "keys.json"], ["--keys", "keys.json", "--topic", "a.b"],
            ["--keys", "keys.json", "--errors", "e"], ["--topic", "a.b", "--errors", "e"],
            ["--keys", "keys.json", "--topic", "a.b", "--errors", ""],
            ["--keys", "keys.json", "--topic", "a.b", "--errors", "e", "more"],
            ["--keys", "keys.json", "--topic", "a.b", "--errors", "e", "--device", "phone"],
            ["--keys", "keys.json", "--topic", "a.b", "--errors", "e", "--at", "now"],
        ])
    func usage(_ arguments: [String]) throws {
        let rotated = try RotatedPlace()
        let before = try rotated.place.names()
        expectUsageError(try rotated.place.run(["reseal"] + arguments))
        #expect(try rotated.place.names() == before)
    }

    @Test(
        "keys that reseal can't use are refused before anything is read or written",
        arguments: [
            (["--keys", "none"], Int32(66), "none"), (["--keys", "Keys"], 65, "Keys"),
            (["--keys", "recipient.json"], 65, "recipient.json: these are recipient keys"),
            (["--keys", "senders.json"], 65, "senders.json: these are sender keys"),
            (["--keys", "keys.json", "--sign-with", "keys.json"], 65, "keys.json: "),
            (["--keys", "keys.json", "--sign-with", "public.json"], 65, "public.json: "),
            (["--keys", "keys.json", "--sign-with", "none"], 66, "none"),
            (["--keys", "keys.json", "--at", "2025-01-01T00:00:00Z"], 65, "keys.json: none of the 2 keys seals"),
            (["--keys", "keys.json", "--topic", "a/b"], 64, "topic"),
            (["--keys", "Keys/demo/shared"], 64, "--allow-demo-keys"),
            (["--keys", "keys.json", "--sign-with", "Keys/demo/sender"], 64, "--allow-demo-keys"),
        ])
    func keys(_ options: [String], _ status: Int32, _ words: String) throws {
        let rotated = try RotatedPlace()
        try rotated.place.create("Keys/ios", "recipient")
        try rotated.place.export("Keys/ios", to: "recipient.json")
        try rotated.place.export("Keys/new-sender", to: "public.json")
        try rotated.place.copyDemoKeys()
        let before = try rotated.place.names()
        var arguments = ["reseal", "--errors", "errors.jsonl"] + options
        if !options.contains("--topic") { arguments += ["--topic", Workplace.topic] }
        if !options.contains("--at") { arguments += ["--at", Workplace.now] }
        expectRefusal(try rotated.place.run(arguments, stdin: Data("{}".utf8)), status, saying: words)
        #expect(try rotated.place.names() == before)
    }

    @Test("reseal with demo keys and --allow-demo-keys exits 0 and prints the current push unchanged")
    func demo() throws {
        let rotated = try RotatedPlace()
        try rotated.place.copyDemoKeys()
        let sealed = try rotated.place.sealed(to: "Keys/demo/shared", "--allow-demo-keys")
        let line = Data(#"{"payload":"#.utf8) + sealed.dropLast() + Data("}\n".utf8)
        let output = try rotated.reseal(line, keys: "Keys/demo/shared", "--allow-demo-keys")
        #expect(output.exit == 0, "\(output)")
        #expect(output.stdout == line)
        #expect(output.stderr == "pushcrypt: 1 line: 0 resealed, 1 unchanged, 0 in errors.jsonl\n")
    }

    @Test("the help describes the errors file and the exit statuses")
    func help() throws {
        let output = try CLI.run(["reseal", "--help"])
        #expect(output.isSuccess, "\(output)")
        #expect(output.text.hasPrefix("OVERVIEW: Seal queued payloads again"))
        for option in ["--keys", "--topic", "--sign-with", "--errors", "--at", "--allow-demo-keys"] {
            #expect(output.text.contains("  \(option) "), "\(option)")
        }
        #expect(try CLI.run(["--help"]).text.contains("\n  reseal "))
    }
}
