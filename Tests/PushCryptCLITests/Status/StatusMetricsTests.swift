import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite("status --prometheus", .ownThreads)
struct StatusMetricsTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.createEncrypted("Keys/fleet", .shared, scrypt: .standard)
        // No command makes a keyset of such a name; an earlier version did.
        try place.create("Keys/a", "sender")
        try place.move("Keys/a", to: "Keys/a\"\\b\nc")
        try place.settle("Keys")
    }

    private func metrics(_ options: String..., expecting exit: Int32 = 1) throws -> String {
        let output = try place.run(["status", "--prometheus", "push.prom", "--at", Workplace.now] + options)
        try #require(output.exit == exit, "\(output)")
        return String(decoding: try place.read("push.prom"), as: UTF8.self)
    }

    /// A sample of the text format, by its name and labels.
    private static func samples(_ text: String) throws -> [String: String] {
        var samples = [String: String]()
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let match = try #require(
                line.wholeMatch(
                    of: #/([a-z_]+(?:\{[a-z]+="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-z]+="[^"]*")*\})?) (-?[0-9.]+)/#),
                "\(line)")
            #expect(samples.updateValue(String(match.2), forKey: String(match.1)) == nil, "\(line) is there twice")
        }
        return samples
    }

    @Test("each metric has one HELP and TYPE before its samples, its unit in its name, and no sample twice")
    func format() throws {
        let text = try metrics("--passphrase-file", "passphrase", expecting: 2)
        var families = [String]()
        var hasHelp = false
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            if words[1] == "HELP" {
                families.append(words[2])
                hasHelp = true
                continue
            }
            if words[1] == "TYPE" {
                #expect(words[2] == families.last && words[3] == "gauge" && hasHelp, "\(line)")
                hasHelp = false
                continue
            }
            #expect(line.prefix { $0 != "{" && $0 != " " } == families.last ?? "", "\(line)")
        }
        #expect(Set(families).count == families.count)
        #expect(text.hasSuffix("\n"))
        for (name, value) in try Self.samples(text) where (Double(value) ?? 0) > 1e9 {
            #expect(name.contains("_timestamp_seconds"), "\(name)")
        }
    }

    @Test("the metrics show status, steps, clock, secret, log and keys")
    func values() throws {
        try place.write(Data("wrong horse".utf8), to: "wrong")
        let wrong = try Self.samples(try metrics("Keys/fleet", "--passphrase-file", "wrong", expecting: 2))
        #expect(wrong["pushcrypt_status"] == "2" && wrong[#"pushcrypt_keyset_secret_ok{keyset="Keys/fleet"}"#] == "0")
        let samples = try Self.samples(try metrics("Keys/fleet", "--passphrase-file", "passphrase", expecting: 0))
        let label = #"{keyset="Keys/fleet"}"#
        #expect(samples["pushcrypt_status"] == "0")
        #expect(samples["pushcrypt_status_timestamp_seconds"] == Workplace.later(0))
        #expect(samples["pushcrypt_keyset_secret_ok" + label] == "1")
        #expect(samples["pushcrypt_keyset_log_ok" + label] == "1")
        #expect(samples["pushcrypt_keyset_clock_ok" + label] == "1")
        #expect(samples["pushcrypt_keyset_due_steps" + label] == "0")
        #expect(samples["pushcrypt_keyset_next_step_timestamp_seconds" + label] == Workplace.later(83 * Workplace.days))
        #expect(samples[#"pushcrypt_keyset_keys{keyset="Keys/fleet",state="primary"}"#] == "1")
        let unchecked = try metrics("Keys/fleet", "--no-check-secret", expecting: 0)
        #expect(!unchecked.contains("secret_ok"))
    }

    @Test("every user may read the file also under a strict umask, it is replaced, and nothing is left beside it")
    func file() throws {
        let script = "umask 077; \"$PUSHCRYPT\" status Keys/fleet --no-check-secret --prometheus node/push.prom"
        try place.makeFolder("node")
        for time in [Workplace.now, StatusTests.day(85)] {
            #expect(try place.shell("\(script) --at \(time)").signal == nil)
            #expect(try place.mode(of: "node/push.prom") == 0o644)
            #expect(try place.names(in: "node") == ["push.prom"])
        }
        #expect(
            try Self.samples(String(decoding: place.read("node/push.prom"), as: UTF8.self))["pushcrypt_status"] == "1")
    }

    @Test("a link to a device in place of the metrics' file is refused, because the file would replace it")
    func link() throws {
        _ = try place.shell("ln -s /dev/null link")
        let output = try place.run("status", "--prometheus", "link", "--at", Workplace.now)
        #expect(output.exit == 3 && output.text.contains("link is a folder or a device"), "\(output)")
        #expect(try place.shell("readlink link").text == "/dev/null\n")
    }

    @Test("a stream of the process isn't replaced by the metrics' file, also if it is redirected to a file")
    func stream() throws {
        for path in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            let output = try place.shell(
                #""$PUSHCRYPT" status --prometheus \#(path) --at \#(Workplace.now) > out; cat out; exit 3"#)
            #expect(output.text.contains("\(path) is a folder or a device"), "\(output)")
        }
        #expect(try place.shell("readlink /dev/stdout").text == "/proc/self/fd/1\n")
    }

    @Test("an unknown status is written too, and metrics that can't be written make the status unknown")
    func unknown() throws {
        #expect(
            try Self.samples(try metrics("Keys/fleet", "--served", "none", expecting: 3))["pushcrypt_status"] == "3")
        let output = try place.run(
            "status", "Keys/fleet", "--no-check-secret", "--prometheus", "none/push.prom", "--at", Workplace.now)
        #expect(
            output.exit == 3 && output.text.hasPrefix("PUSHCRYPT UNKNOWN: can't create none/push.prom"), "\(output)")
    }

    /// The interpreter of the tests against the second implementation.
    private static let python = ProcessInfo.processInfo.environment["PUSHCRYPT_PYTHON"] ?? "python3"
    private static let parse = """
        import sys
        from prometheus_client.parser import text_string_to_metric_families
        for family in text_string_to_metric_families(open(sys.argv[1]).read()):
            assert family.type == "gauge" and family.documentation, family
            for sample in family.samples:
                print(sample.name, sorted(sample.labels.items()), sample.value)
        """
    private static let hasParser = (try? run(["-c", "import prometheus_client"])) == .exit(0)

    private static func run(_ arguments: [String], stdout: String = "/dev/null") throws -> ChildProcess.Ending {
        try ChildProcess(executable: "/usr/bin/env", arguments: [python] + arguments, stdout: stdout).run()
    }

    @Test(
        "the parser of prometheus_client reads the metrics, with the keysets' names",
        .enabled(if: hasParser, "no Python with prometheus_client; see CONTRIBUTING.md"))
    func parser() throws {
        _ = try metrics("--passphrase-file", "passphrase", expecting: 2)
        try Data().write(to: place.folder.file("parsed"))
        let ending = try Self.run(
            ["-c", Self.parse, place.folder.file("push.prom").path], stdout: place.folder.file("parsed").path)
        #expect(ending == .exit(0))
        let parsed = String(decoding: try place.read("parsed"), as: UTF8.self)
        #expect(parsed.contains("pushcrypt_status [] 2\n"), "\(parsed)")
        #expect(parsed.contains(#"pushcrypt_keyset_seq [('keyset', 'Keys/a"\\b\nc')] 1"#), "\(parsed)")
    }
}
