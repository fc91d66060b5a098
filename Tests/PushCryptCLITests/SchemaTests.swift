import Foundation
import PushCryptTestSupport
import Testing

/// The Python package jsonschema, with which docs/schemas is checked.
private enum JSONSchema {
    static let isAvailable = (try? python(["-c", "import jsonschema"]).run()) == .exit(0)
    static let missing: Comment = "no Python with the package jsonschema: CONTRIBUTING.md says how to install it"
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/schemas")
    /// Each line of a file is checked; of a schema with several kinds of lines, the kind is named.
    static let program = """
        import json, sys, jsonschema
        schema = json.load(open(sys.argv[1]))
        if len(sys.argv) > 3: schema["$ref"] = "#/$defs/" + sys.argv[3]
        for line in open(sys.argv[2]): jsonschema.Draft202012Validator(schema).validate(json.loads(line))
        """

    static func python(_ arguments: [String], stderr: String = "/dev/null") -> ChildProcess {
        let interpreter = ProcessInfo.processInfo.environment["PUSHCRYPT_PYTHON"] ?? "python3"
        return ChildProcess(executable: "/usr/bin/env", arguments: [interpreter, "-B"] + arguments, stderr: stderr)
    }
}

@Suite("the schemas of JSON output", .enabled(if: JSONSchema.isAvailable, JSONSchema.missing), .ownThreads)
struct SchemaTests {
    /// What jsonschema says of the lines; empty if all are valid.
    private func problem(_ lines: String, _ schema: String, _ kind: String? = nil) throws -> String {
        let place = try TemporaryFolder()
        try Data(lines.utf8).write(to: place.file("lines"))
        try Data().write(to: place.file("errors"))
        let (file, errors) = (JSONSchema.folder.appendingPathComponent(schema).path, place.file("errors"))
        let arguments = ["-c", JSONSchema.program, file, place.file("lines").path] + [kind].compactMap(\.self)
        let ending = try JSONSchema.python(arguments, stderr: errors.path).run()
        let text = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
        return ending == .exit(0) ? text : "\(ending): \(text)"
    }

    @Test func `the JSON of status is valid, with findings and with none, and one without its time isn't`() throws {
        let host = try KeystorePlace()
        let first = try host.run("status", "--json").text.filter { $0 != "\n" }
        try host.succeed("rotate")
        let second = try host.run("status", "--json").text.filter { $0 != "\n" }
        #expect(first.contains(#""code""#), "\(first)")
        for text in [first, second] { #expect(try problem(text, "status.json") == "", "\(text)") }
        #expect(try problem(first.replacing(#""at""#, with: #""when""#), "status.json").contains("'at' is a required"))
    }

    @Test func `input and output lines of seal and open are valid, sealed, refused and opened ones`() throws {
        let place = try Workplace()
        try place.create("Keys/fleet", "shared")
        try place.create("Keys/senders", "sender")
        let input = """
            {"payload":{"aps":{"alert":{"body":"B"}}},"device":"phone","id":7,"quiet":true,"badgeAdd":1}
            {"payload":{"aps":{"alert":{"body":"B"}}}}

            """
        #expect(try problem(input, "stream.json", "sealInput") == "")
        let time = ["--topic", Workplace.topic, "--at", Workplace.now]
        let signing = ["--to", "Keys/fleet", "--sign-with", "Keys/senders"]
        let sealed = try place.run(["seal", "--stream"] + signing + time, stdin: Data(input.utf8)).text
        #expect(try problem(sealed, "stream.json", "sealOutput") == "", "\(sealed)")
        #expect(try problem(sealed, "stream.json", "openOutput") != "")
        try place.write(Data(place.run(["keys", "export", "Keys/senders"]).stdout), to: "senders.json")
        let line = String(try #require(sealed.split(separator: "\n").first)) + "\n"
        #expect(try problem(line, "stream.json", "openInput") == "")
        let opened = try place.run(
            ["open", "--stream", "--keys", "Keys/fleet", "--trust", "senders.json"] + time,
            stdin: Data((line + "{}\n").utf8)
        ).text
        #expect(try problem(opened, "stream.json", "openOutput") == "", "\(opened)")
        #expect(try problem(#"{"payload":{},"badgeAdd":1000}"#, "stream.json", "sealInput") != "")
    }
}
