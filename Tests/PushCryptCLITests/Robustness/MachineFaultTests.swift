import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("a machine without random bytes or file descriptors", .ownThreads)
struct MachineFaultTests {
    /// Where the machine has suite 3.
    private static let suite3 =
        PushCryptCore.Suite.xWing.isAvailable
        ? [
            "rotate Keys/ios --now --suite xwing",
            "keys create Keys/new --kind recipient --suite xwing --insecure-plaintext",
            "seal --to xwing.json --topic com.example.app <inner",
            // OpenSSL tests each private key of ML-KEM with a message.
            "keys export Keys/xwing --private --insecure-plaintext",
        ] : []

    static let drawing = [
        "seal --to Keys/ios --topic com.example.app <inner",
        "seal --to Keys/master --device phone-1 --topic com.example.app <inner",
        "keys create Keys/new --kind shared --insecure-plaintext",
        "keys create Keys/new --kind recipient --insecure-plaintext", "rotate Keys/master --now",
        "rotate Keys/ios --now --at-once",
        "blob seal --type text/plain --from inner --output blob --reference reference.json --url https://example.com/b",
    ]

    /// OpenSSL reads the name of its generator from its configuration.
    @Test(
        "a command that draws random bytes exits 70 and writes nothing if there are none",
        arguments: drawing.sampled(every: 2) + suite3)
    func withoutRandomness(_ command: String) throws {
        let place = try makePlace()
        let configuration = "openssl_conf = init\n[init]\nrandom = generator\n[generator]\nrandom = no-such-generator\n"
        try place.write(Data(configuration.utf8), to: "openssl.cnf")
        let (before, names) = (try place.contents(of: "Keys"), try place.names())
        let output = try place.shell("OPENSSL_CONF=$PWD/openssl.cnf exec \"$PUSHCRYPT\" \(command)")
        expectRefusal(output, 70, saying: "OpenSSL has no random bytes: ")
        #expect(try place.contents(of: "Keys") == before)
        #expect(try place.names() == names)
    }

    static let opening = [
        "rotate Keys/master --now", "rotate Keys/ios --now", "keys create Keys/new --kind sender --insecure-plaintext",
    ]

    /// The smallest limit is that with which the system can load the tool.
    @Test("a command without free descriptors exits 74 and changes nothing", arguments: opening)
    func withoutDescriptors(_ command: String) throws {
        var statuses: Set<Int32> = []
        for limit in LongTests.value(4...16, short: 4...7) {
            let place = try makePlace()
            let before = try place.contents(of: "Keys")
            let output = try place.shell(
                "ulimit -n \(limit); exec \"$PUSHCRYPT\" \(command)", stdin: Workplace.inner)
            let status = try #require(output.exit, "\(limit): \(output)")
            statuses.insert(status)
            if status != 0 {
                expectRefusal(output, 74)
                #expect(try place.contents(of: "Keys") == before, "\(limit)")
            }
            #expect(try place.run("keys", "list", "Keys").exit == 0, "\(limit)")
        }
        #expect(statuses == [0, 74])
    }

    @Test("a wrap command that can't be started for lack of descriptors exits 74, and one that fails exits 65")
    func wrapWithoutDescriptors() throws {
        let place = try makePlace()
        try place.writeWrapCommand("wrap")
        let export = "keys export Keys/wrapped --wrap-command"
        try #require(
            place.shell("\"$PUSHCRYPT\" keys create Keys/wrapped --kind sender --wrap-command ./wrap").exit == 0)
        let outputs = try (4...8).map { try place.shell("ulimit -n \($0); exec \"$PUSHCRYPT\" \(export) ./wrap") }
        let started = "failed to unwrap: can't create a pipe"
        #expect(outputs.contains { $0.stderr.contains(started) }, "\(outputs)")
        for output in outputs where output.stderr.contains(started) { expectRefusal(output, 74) }
        expectRefusal(
            try place.shell("exec \"$PUSHCRYPT\" \(export) false"), 65, saying: "failed to unwrap: exit status 1")
    }

    @Test("no command writes a secret that other users can read under umask 000")
    func openMask() throws {
        let place = try makePlace()
        let output = try place.shell(
            """
            umask 000
            for command in "seal --batch --to Keys/master --topic com.example.app --errors errors.jsonl" \\
                "blob seal --type text/plain --from inner --output blob --reference reference.json --url https://example.com/b" \\
                "blob open --reference reference.json --from blob --output opened"; do
                "$PUSHCRYPT" $command </dev/null >/dev/null || exit
            done
            """)
        #expect(output.exit == 0, "\(output)")
        for name in ["errors.jsonl", "reference.json", "opened"] {
            #expect(try place.mode(of: name) == 0o600, "\(name)")
        }
    }

    @Test("no change makes a file that others can open under umask 000", arguments: ChangingCommand.all)
    func openMaskOfChanges(_ command: ChangingCommand) throws {
        let place = try ChangingCommand.place()
        let words = try command.arguments(in: place).joined(separator: " ")
        let output = try place.shell("umask 000; rm pins.json; \"$PUSHCRYPT\" \(words)")
        #expect(output.exit == 0, "\(output)")
        for folder in ["Keys", "Publisher", "history"] {
            #expect(try place.mode(of: folder) == 0o700, "\(folder)")
            for name in try place.names(in: folder) {
                #expect(try place.mode(of: "\(folder)/\(name)") == 0o600, "\(folder)/\(name)")
            }
        }
        for name in try place.names(in: "www") { #expect(try place.mode(of: "www/\(name)") == 0o644, "\(name)") }
    }

    /// The first second, the last and the next one of 32 bits, and the last one of 64 bits of nanoseconds.
    @Test(
        "keys are created, used and rotated at the ends of common clocks",
        arguments: [0, 2_147_483_647, 2_147_483_648, 9_223_372_036])
    func clocks(_ time: Int) throws {
        let place = try Workplace()
        try place.write(Workplace.inner, to: "inner")
        let output = try place.shell(
            """
            "$PUSHCRYPT" keys create Keys/new --kind shared --insecure-plaintext --at \(time) &&
            "$PUSHCRYPT" seal --to Keys/new --bare --topic com.example.app --at \(time) <inner >sealed &&
            "$PUSHCRYPT" open --keys Keys/new --topic com.example.app --at \(time + 1) <sealed >opened &&
            "$PUSHCRYPT" rotate Keys/new --now --at \(time + 86_400) &&
            "$PUSHCRYPT" keys list Keys/new --at \(time + 86_400)
            """)
        #expect(output.exit == 0, "\(output)")
        let opened = String(decoding: try place.read("opened"), as: UTF8.self)
        #expect(opened.trimmingCharacters(in: .newlines) == String(decoding: Workplace.inner, as: UTF8.self))
        let late = try place.shell(
            "\"$PUSHCRYPT\" open --keys Keys/new --topic com.example.app --at \(time + 31 * 86_400) <sealed")
        #expect(late.exit == 65 && late.stderr.contains("expired"), "\(late)")
    }

    /// The commands run now, so the keysets are new.
    private func makePlace() throws -> Workplace {
        let place = try Workplace()
        let now = ISO8601DateFormatter().string(from: Date())
        _ = try place.create("Keys/ios", "recipient", ["--psk"], at: now)
        _ = try place.create("Keys/master", "shared", [], at: now)
        if !Self.suite3.isEmpty {
            _ = try place.create("Keys/xwing", "recipient", ["--suite", "xwing"], at: now)
            try place.export("Keys/xwing", to: "xwing.json")
        }
        try place.write(Workplace.inner, to: "inner")
        try place.write(Data("correct horse\n".utf8), to: "pass")
        return place
    }
}
