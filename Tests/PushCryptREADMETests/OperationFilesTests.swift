import Foundation
import PushCryptTestSupport
import Testing

/// The units of the Debian package.
@Suite("the units that operate a keystore")
struct OperationFilesTests {
    private static let units = ["service", "timer"].flatMap { suffix in
        ["rotate", "status"].map { "pushcrypt-\($0).\(suffix)" }
    }
    private static let hasSystemd =
        (try? ChildProcess(executable: "/usr/bin/env", arguments: ["systemd-analyze", "--version"]).run()) == .exit(0)

    private static func text(of unit: String) throws -> String { try Documents.text(of: "scripts/systemd/\(unit)") }

    @Test(
        "systemd finds no fault in the units, whose exposure is at most 1.0 of 10, and more without a filter of system calls",
        .enabled(if: hasSystemd, "systemd-analyze not found")
    )
    func systemd() throws {
        let files = try Self.units.map { unit in
            // It checks that the program exists.
            let text = try Self.text(of: unit).replacing("/usr/bin/pushcrypt", with: "/bin/cat")
            return "cat > \(unit) <<'END'\n\(text)END"
        }
        // The threshold is in tenths.
        let exposure = ["rotate", "status"].map {
            "systemd-analyze security --offline=yes --threshold=10 ./pushcrypt-\($0).service > /dev/null 2>&1; echo $?"
        }
        let verify = "systemd-analyze verify --man=no \(Self.units.map { "./" + $0 }.joined(separator: " ")); echo $?"
        let outputs = try TranscriptTests.run(
            [files.joined(separator: "\n"), verify] + exposure + ["sed -i /^SystemCallFilter/d *.service"] + exposure)
        #expect(outputs.dropFirst() == ["0", "0", "0", "", "1", "1"], "\(outputs)")
    }

    @Test("the units' commands publish what init has made, and write metrics")
    func commands() throws {
        let commands = try ["rotate", "status"].map { (name: String) -> String in
            let text = try Self.text(of: "pushcrypt-\(name).service")
            let command = try #require(text.firstMatch(of: #/(?m)^ExecStart=/usr/bin/(.*)$/#)).1
            let printing = "> printed; echo $?; sed -E 's/: .*//' printed"
            return "\(command.replacing("/run/pushcrypt/", with: "")) \(printing)"
        }
        let preparation = """
            umask 077
            export PUSHCRYPT_SETTINGS="$PWD/pushcrypt.json"
            pushcrypt init --yes --topic com.example.app --keystore Keys --publisher-keystore Publisher --history history \\
                --publish-to www --pins sender-pins.json
            """
        let outputs = try TranscriptTests.run([
            preparation, commands[0], "ls -l www | cut -c 1-10 | tail -1", commands[0], commands[1],
            "grep '^pushcrypt_status ' pushcrypt.prom",
        ])
        #expect(
            outputs.dropFirst().map { $0.components(separatedBy: "/").last ?? "" }
                == ["senders.keyset", "-rw-r--r--", "0", "0\nPUSHCRYPT OK", "pushcrypt_status 0"], "\(outputs)")
    }
}
