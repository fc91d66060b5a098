import Foundation
import PushCryptTestSupport
import Testing

/// The units, the cron line and the script of Examples/operations.
@Suite("the files for operating a keystore")
struct OperationFilesTests {
    private static let folder = "Examples/operations"
    private static let units = ["service", "timer"].flatMap { suffix in
        ["rotate", "status"].map { "push-\($0).\(suffix)" }
    }
    private static let hasSystemd =
        (try? ChildProcess(executable: "/usr/bin/env", arguments: ["systemd-analyze", "--version"]).run()) == .exit(0)

    /// A command that writes a file of the folder, with the paths of this host.
    private static func install(_ name: String) throws -> String {
        let text = try Documents.text(of: "\(folder)/\(name)")
        let replaced = [
            ("/srv/www/push", "$PWD/www"), ("/srv/push", "$PWD/srv"), ("/srv/backup", "$PWD/backup"),
            ("/etc/push", "$PWD/etc"), ("%d", "$PWD/etc"),
            ("/var/lib/prometheus/node-exporter", "$PWD/metrics"), ("/var/log/push", "$PWD/log"),
        ].reduce(text) { $0.replacing($1.0, with: $1.1) }
        let sed = "sed \"s|[$]PWD|$PWD|g\""
        return "\(sed) > \(name) <<'END'\n\(replaced)END\nchmod 755 \(name)"
    }

    @Test(
        "systemd finds no fault in the units, whose exposure is at most 1.0 of 10, and more without a filter of system calls",
        .enabled(if: hasSystemd, "systemd-analyze not found")
    )
    func systemd() throws {
        let files = try Self.units.map { unit in
            // It checks that the program exists.
            let text = try Documents.text(of: "\(Self.folder)/\(unit)").replacing(
                "/usr/bin/pushcrypt", with: "/bin/cat")
            return "cat > \(unit) <<'END'\n\(text)END"
        }
        // The threshold is in tenths.
        let exposure = ["rotate", "status"].map {
            "systemd-analyze security --offline=yes --threshold=10 ./push-\($0).service > /dev/null 2>&1; echo $?"
        }
        let outputs = try TranscriptTests.run(
            [files.joined(separator: "\n")]
                + ["systemd-analyze verify \(Self.units.map { "./" + $0 }.joined(separator: " ")); echo $?"]
                + exposure + ["sed -i /^SystemCallFilter/d push-*.service"] + exposure)
        #expect(outputs.dropFirst() == ["0", "0", "0", "", "1", "1"], "\(outputs)")
    }

    /// Makes a keystore with encrypted keysets, and installs the files.
    private static func preparation() throws -> String {
        """
        umask 077
        mkdir -p srv/Keys srv/Publisher srv/devices srv/outbox www etc metrics log backup
        chmod 755 www
        printf 'green horse' > etc/passphrase
        printf 'blue horse' > etc/publisher-passphrase
        for name in senders:sender inbox:recipient fleet:shared; do
            pushcrypt keys create srv/Keys/${name%:*} --kind ${name#*:} --passphrase-file etc/passphrase
        done
        pushcrypt keys create srv/Publisher/app --kind publisher --passphrase-file etc/publisher-passphrase
        pushcrypt keys policy srv/Keys/senders --publish-topic com.example.app --passphrase-file etc/passphrase
        printf 'phone-1\\nphone-2\\n' > srv/devices/fleet
        \(try (["publish", "crontab"] + units).map(install).joined(separator: "\n"))
        mv publish etc/publish
        service() (cd srv && $(sed -n 's|^ExecStart=/usr/bin/||p' ../push-$1.service) > ../output-$1 2> ../errors-$1; echo $?)
        """
    }

    @Test("the services publish each keyset once and write metrics, and the cron line then prints nothing")
    func commands() throws {
        let cron = "sh -c \"$(sed -nE 's/^0 4 \\* \\* \\*  push  //p' crontab)\""
        let outputs = try TranscriptTests.run([
            try Self.preparation(), "service rotate", "ls -l www | awk 'NR > 1 {print $1, $9}'",
            "cut -c 1-20 srv/outbox/fleet; ls -l srv/outbox | awk 'NR > 1 {print $1}'",
            "service status; cat errors-status",
            "grep -E '^pushcrypt_status |^pushcrypt_keyset_secret_ok' metrics/push.prom", "\(cron); cat errors-status",
            "printf wrong > etc/passphrase; \(cron) 2>&1 | cut -d ' ' -f 1-3 | sort -u",
            "service rotate; service status",
        ])
        try #require(outputs.count == 9)
        #expect(outputs[1] == "0", "\(outputs)")
        #expect(
            outputs[2] == """
                -rw-r--r-- inbox.1.jwks.json
                -rw-r--r-- inbox.jwks.json
                -rw-r--r-- senders.2.json
                -rw-r--r-- senders.json
                """)
        #expect(outputs[3] == "{\"device\":\"phone-1\",\n{\"device\":\"phone-2\",\n-rw-------")
        #expect(outputs[4] == "0")
        #expect(
            outputs[5].components(separatedBy: "\n") == ["pushcrypt_status 0"]
                + ["fleet", "inbox", "senders"].map { "pushcrypt_keyset_secret_ok{keyset=\"Keys/\($0)\"} 1" })
        #expect(outputs[6] == "")
        #expect(
            outputs[7] == """
                pushcrypt: Keys/fleet/keyset.json: the
                pushcrypt: Keys/inbox/keyset.json: the
                pushcrypt: Keys/senders/keyset.json: the
                rotate ended with
                """)
        #expect(outputs[8] == "77\n2")
    }

    @Test(
        "the cron line of the backup writes one file with the keysets of both keystores, and refuses a second one that night"
    )
    func backup() throws {
        let cron = "sh -c \"$(sed -nE 's/^30 4 \\* \\* \\*  push  //p' crontab | sed 's/\\\\%/%/g')\""
        let outputs = try TranscriptTests.run([
            try Self.preparation(), cron, "ls backup | sed 's/[0-9]/N/g'", "\(cron) 2> /dev/null",
            "mv srv lost; mkdir srv; cd srv; pushcrypt keys restore --from ../backup/* Publisher/app "
                + "--passphrase-file ../etc/publisher-passphrase 2> /dev/null | head -1",
        ])
        try #require(outputs.count == 5)
        #expect(outputs[1] == "", "\(outputs)")
        #expect(outputs[2] == "keys-NNNN-NN-NN.backup")
        #expect(outputs[3] == "keys backup ended with exit status 73")
        #expect(outputs[4] == "Publisher/app: restored as seq 2")
    }
}
