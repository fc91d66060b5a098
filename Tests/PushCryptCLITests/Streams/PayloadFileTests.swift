import Foundation
import Testing

/// The payload of a command may be in a file instead of stdin.
@Suite("payloads in files", .ownThreads)
struct PayloadFileTests {
    private static let topic = ["--topic", Workplace.topic, "--at", Workplace.now]

    /// Commands that read a sealed payload, with their options.
    static let readers = [
        ["open", "--keys", "Keys/ios"] + topic, ["inspect"], ["inspect", "--json", "--keys", "Keys/ios"] + topic,
        ["simulate", "--keys", "Keys/ios"] + topic, ["diagnose", "--keys", "Keys/ios"] + topic,
        ["diagnose", "--json", "--at", Workplace.now],
    ]

    static let commands = readers + [["seal", "--to", "Keys/ios"] + topic]

    private func place() throws -> Workplace {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        return place
    }

    @Test("a payload in FILE has the output of the same payload on stdin, and - is stdin", arguments: readers)
    func file(_ command: [String]) throws {
        let place = try place()
        let sealed = try place.sealed(to: "Keys/ios")
        try place.write(sealed, to: "push.json")
        let expected = try place.run(command, stdin: sealed)
        try #require(expected.isSuccess, "\(expected)")
        for (arguments, stdin) in [(command + ["push.json"], Data()), (command + ["-"], sealed)] {
            let output = try place.run(arguments, stdin: stdin)
            #expect(output.isSuccess && output.stdout == expected.stdout, "\(output)")
        }
    }

    @Test("seal seals the payload in FILE")
    func seal() throws {
        let place = try place()
        try place.write(Workplace.inner, to: "inner.json")
        let sealed = try place.run(["seal", "inner.json", "--to", "Keys/ios"] + Self.topic)
        #expect(sealed.isSuccess, "\(sealed)")
        #expect(try place.open(keys: "Keys/ios", payload: sealed.stdout).payload == Workplace.inner)
    }

    @Test("seal and open read the lines of a batch, and of a stream, from FILE", arguments: ["--batch", "--stream"])
    func lines(_ option: String) throws {
        let place = try place()
        let line = Data(#"{"payload":{"aps":{"alert":"Hi"}}}"#.utf8) + Data("\n".utf8)
        try place.write(line + line, to: "lines")
        let sealed = try place.run(["seal", option, "--to", "Keys/ios", "lines"] + Self.topic)
        #expect(sealed.exit == 0 && sealed.text.split(separator: "\n").count == 2, "\(sealed)")
        try place.write(sealed.stdout, to: "sealed")
        let opened = try place.run(["open", option, "--keys", "Keys/ios", "sealed"] + Self.topic)
        #expect(opened.exit == 0 && opened.stderr.contains("2 lines: 2 opened"), "\(opened)")
        let missing = try place.run(["seal", option, "--to", "Keys/ios", "nothing"] + Self.topic)
        #expect(missing.exit == 66 && missing.stdout.isEmpty && missing.stderr.contains("nothing"), "\(missing)")
    }

    @Test("a payload as an argument is a usage error that doesn't repeat it", arguments: commands)
    func argument(_ command: [String]) throws {
        let output = try place().run(command + [String(decoding: Workplace.inner, as: UTF8.self)])
        expectUsageError(output)
        #expect(output.stderr.contains("on stdin or in a file") && !output.stderr.contains("All clear"), "\(output)")
    }

    @Test("an error about the payload names its file")
    func names() throws {
        let place = try place()
        try place.write(Data(), to: "empty")
        try place.write(Data("[]".utf8), to: "array")
        let keys = ["--keys", "Keys/ios"] + Self.topic
        #expect(
            try place.run(["open", "empty"] + keys).stderr
                == "pushcrypt: not opened: malformed: empty has no payload: it is empty\n"
        )
        expectRefusal(try place.run("inspect", "empty"), 65, saying: "empty has no payload")
        expectRefusal(try place.run(["seal", "--to", "Keys/ios"] + Self.topic), 65, saying: "stdin has no payload")
        expectRefusal(try place.run(["simulate", "empty"] + keys), 65, saying: "empty has no payload")
        expectRefusal(try place.run("inspect", "array"), 65, saying: "array is JSON, but not an object")
    }

    @Test("zsh completes FILE with the names of files")
    func completion() throws {
        let script = try CLI.run(["--generate-completion-script", "zsh"]).text
        #expect(script.components(separatedBy: "':FILE:_files'").count == 7)
    }
}
