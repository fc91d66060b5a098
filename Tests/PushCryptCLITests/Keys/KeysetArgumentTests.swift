import Foundation
import PushCryptTestSupport
import Testing

/// Keystores and keysets as arguments of the commands that accept several.
@Suite("arguments that name keystores and keysets", .ownThreads)
struct KeysetArgumentTests {
    private let place: Workplace
    private static let backup = "--to backup --backup-passphrase-file pass"

    init() throws {
        place = try Workplace()
        try place.create("Keys/app", "recipient")
        try place.create("Keys/backend", "sender")
        try place.create("Publisher/fleet", "shared")
        try place.makeFolder("empty")
        try place.makeFolder("etc/foreign")
        try place.write(Data("a long winter".utf8), to: "pass")
    }

    private func run(_ command: String) throws -> Output {
        let arguments = command.split(separator: " ").map(String.init)
        return try place.run(arguments + ["--at", Workplace.now])
    }

    private func keysets(_ output: Output) throws -> [String] {
        guard output.text.hasPrefix("{\n") else {
            return try output.text.split(separator: "\n").compactMap { line in
                let row = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return row?["keyset"] as? String
            }
        }
        let rows = try output.object()["keysets"] as? [[String: Any]]
        return rows?.compactMap { $0["keyset"] as? String } ?? []
    }

    @Test(
        "an argument without a keyset is named and refused with 66, also beside one that has keysets",
        arguments: [
            "rotate --all empty", "rotate --all Keys empty", "keys backup --all Keys empty \(backup)",
            "keys list empty", "keys doctor empty", "keys doctor etc",
        ])
    func empty(_ command: String) throws {
        let output = try run(command)
        #expect(output.exit == 66, "\(output)")
        let path = command.contains("etc") ? "etc" : "empty"
        #expect(output.stderr.contains(path) && output.stderr.contains("no keyset"), "\(output)")
        #expect(!place.has("backup"))
    }

    @Test(
        "rotate --all rotates the keysets of the other arguments, reports the one without a keyset, and exits with its status",
        arguments: [("empty", "no keyset in empty"), ("none", "none")])
    func others(_ path: String, _ message: String) throws {
        let output = try run("rotate --all --now --json Keys \(path) Publisher")
        #expect(output.exit == 66 && output.stderr.contains(message), "\(output)")
        #expect(try keysets(output) == ["Keys/app", "Keys/backend", path, "Publisher/fleet"])
        let failed = try #require(output.text.split(separator: "\n").first { $0.contains("\"error\"") })
        #expect(failed.contains(message) && failed.contains("\"keyset\""), "\(failed)")
        for keyset in ["Keys/app", "Publisher/fleet"] {
            #expect(try place.states(keyset, at: Workplace.now) == ["primary", "pending"])
        }
        let dry = try run("rotate --all --dry-run \(path) Keys")
        #expect(dry.exit == 66 && dry.text.contains("Keys/backend at"), "\(dry)")
    }

    @Test(
        "a backup in place of a keyset: the error says so and names the command that restores it",
        arguments: [
            "keys restore b", "rotate b", "keys add b --force", "keys list b", "keys show b qi99",
            "keys coverage b --reports b",
        ])
    func givenBackup(_ command: String) throws {
        #expect(try run("keys backup Keys/app --to b --backup-passphrase-file pass").isSuccess)
        let output = try run(command)
        let words =
            "it is a backup. To restore it: `pushcrypt keys restore --from b`; add --dry-run to see its keysets first"
        #expect([65, 66].contains(output.exit) && output.stderr.contains(words), "\(output)")
        let dry = try run("keys restore --from b --dry-run --into Other --backup-passphrase-file pass")
        #expect(dry.exit == 0 && dry.text.contains("Other/app: would be restored"), "\(dry)")
    }

    @Test(
        "a value out of the policy's limits: the error names the keyset, the options and their values",
        arguments: [
            (
                "keys policy Keys/app --rotate-every 5d",
                "Keys/app: --publish-lead 7d must be shorter than --rotate-every 5d: a key is published while the previous one seals"
            ),
            (
                "keys policy Keys/app --publish-lead 90d",
                "Keys/app: --publish-lead 90d must be shorter than --rotate-every 90d"
            ),
            ("keys policy Keys/app --keep 0", "Keys/app: --keep 0 is not 1 to 100 keys"),
            ("keys policy Keys/app --overlap 40000d", "Keys/app: --overlap 40000d is more than 100 years"),
            (
                "keys create Keys/new --kind sender --rotate-every 0s",
                "Keys/new: --rotate-every 0s is not one second to 100 years"
            ),
            (
                "keys policy Keys/app --keep 100 --rotate-every 3650d",
                "--keep 100 and --rotate-every 3650d together let a key"
            ),
        ])
    func policy(_ command: String, _ words: String) throws {
        expectRefusal(try run(command), 64, saying: words)
    }

    @Test("status of a keystore and of a folder without a keyset is critical and names the folder")
    func emptyStatus() throws {
        let output = try run("status Keys empty --ignore plain-text")
        #expect(output.exit == 2 && output.text.contains("no keyset in empty"), "\(output)")
    }

    @Test("a keyset is accepted where a keystore is, and the same keyset counts once")
    func keysetAsKeystore() throws {
        let three = ["Keys/app", "Keys/backend", "Publisher/fleet"]
        #expect(try keysets(run("rotate --json --all Keys Publisher/fleet/ Keys/app ./Keys")) == three)
        #expect(try keysets(run("rotate --json Keys/app Keys/app/")) == ["Keys/app"])
        let backup = try run("keys backup --json --all Keys Keys Publisher/fleet \(Self.backup)")
        #expect(backup.isSuccess, "\(backup)")
        #expect(try keysets(backup) == ["app", "backend", "fleet"])
    }

    @Test(
        "status counts the same keyset and its problems once",
        arguments: ["Keys Keys", "Keys ./Keys/", "Keys Keys/app", "Keys/app Keys"])
    func statusCountsOnce(_ paths: String) throws {
        let (once, twice) = (try run("status --json Keys"), try run("status --json \(paths)"))
        #expect(twice.exit == once.exit, "\(twice)")
        let (expected, found) = (try once.object(), try twice.object())
        for member in ["keysets", "problems", "unknown"] {
            let count = (expected[member] as? [Any])?.count
            #expect((found[member] as? [Any])?.count == count, "\(member): \(twice)")
        }
    }

    @Test(
        "a keystore in place of a keyset is refused with one of its keysets, and with --all if the command has it",
        arguments: [
            ("rotate Keys", true), ("keys backup Keys \(backup)", true), ("keys verify Keys", false),
            ("keys add Keys", false), ("keys export Keys", false),
        ])
    func keystoreAsKeyset(_ command: String, _ hasAll: Bool) throws {
        let output = try run(command)
        expectRefusal(
            output, 66,
            saying: "Keys is not a keyset of a keystore: it is a keystore. Give one of its keysets, such as Keys/app")
        #expect(output.stderr.contains("--all") == hasAll, "\(output)")
    }

    @Test("a keyset whose keyset.json is lost is reported as missing, and not as a folder without a keyset")
    func lost() throws {
        try FileManager.default.removeItem(at: place.folder.file("Keys/app/keyset.json"))
        let status = try run("status Keys/app")
        #expect(status.exit == 2 && status.text.contains("Keys/app: there is no keyset.json"), "\(status)")
        for command in ["rotate --all Keys/app", "rotate Keys/app", "keys log Keys/app"] {
            expectRefusal(
                try run(command), 66,
                saying: "Keys/app has an audit log, but no keyset.json. Restore it from a backup: "
                    + "`pushcrypt keys restore --from FILE Keys/app`")
        }
    }

    @Test("a keyset.json that ends early is named, with the command that restores it")
    func truncated() throws {
        _ = try place.shell("head -c 300 Keys/app/keyset.json > k && cat k > Keys/app/keyset.json")
        for command in ["rotate Keys/app", "keys list Keys/app", "keys policy Keys/app", "keys log Keys/app --verify"] {
            let output = try run(command)
            expectRefusal(output, 65, saying: "pushcrypt: Keys/app/keyset.json: not a JSON text: ")
            #expect(
                output.stderr.hasSuffix("Restore it from a backup: `pushcrypt keys restore --from FILE Keys/app`\n"),
                "\(output)")
        }
    }
}
