import Foundation
import Testing

@Suite(
    "a keystore that the user may only read", .ownThreads, .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
struct ReadOnlyTests {
    static let changes = [
        "keys add Keys/ios", "keys policy Keys/ios --keep 3", "rotate Keys/ios",
        "keys passwd Keys/ios --insecure-plaintext", "rotate --emergency --revoke KID --yes Keys/ios",
        "keys revoke Keys/ios KID --yes", "keys create Keys/new --kind shared --insecure-plaintext",
    ]

    @Test("changes in a read-only folder exit 77 and change nothing", arguments: changes)
    func change(_ command: String) throws {
        let (place, kid) = try makePlace()
        let before = try place.contents(of: "Keys")
        let output = try run(command.replacing("KID", with: kid), place)
        #expect(output.exit == 77, "\(output)")
        #expect(output.stderr.contains("Permission denied"), "\(output)")
        let folder = command.contains("create") ? "Keys" : "Keys/ios"
        #expect(output.stderr.contains("; correct it with: chmod u+wx \(folder)"), "\(output)")
        #expect(try place.contents(of: "Keys") == before)
        #expect(try place.names(in: "Keys") == ["ios"])
        #expect(try place.names(in: "Keys/ios") == ["audit.jsonl", "keyset.json", "public.jwks.json"])
    }

    @Test(
        "reading commands work in a read-only folder",
        arguments: [
            "keys list Keys/ios", "keys export Keys/ios", "keys verify Keys/ios", "keys log Keys/ios",
            "keys log Keys/ios --verify", "keys doctor Keys/ios", "keys policy Keys/ios",
            "seal --to Keys/ios --topic com.example.app <inner",
        ])
    func reading(_ command: String) throws {
        let (place, _) = try makePlace()
        let output = try run(command, place)
        #expect(output.isSuccess, "\(output)")
        #expect(!output.text.isEmpty)
    }

    @Test("rotate --dry-run prints what is due in a read-only folder")
    func dryRun() throws {
        let (place, _) = try makePlace()
        #expect(try run("rotate Keys/ios --dry-run", place).exit == 10)
    }

    private func run(_ command: String, _ place: Workplace) throws -> Output {
        let time = Workplace.later(83 * Workplace.days)
        let words = command.split(separator: "<", maxSplits: 1)
        let stdin = words.count > 1 ? "<" + words[1] : ""
        return try place.shell("\(Unprivileged.prefix) \"$PUSHCRYPT\" \(words[0]) --at \(time) \(stdin)")
    }

    private func makePlace() throws -> (Workplace, kid: String) {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient")
        try place.write(Workplace.inner, to: "inner")
        try place.giveAway()
        try place.setMode(0o500, of: "Keys/ios")
        try place.setMode(0o500, of: "Keys")
        return (place, kid)
    }
}

@Suite("a read-only file system", .ownThreads, .enabled(if: FullDisk.isAvailable, FullDisk.missing))
struct ReadOnlyFileSystemTests {
    @Test("changes on a read-only file system exit 77, and reading commands work", arguments: ReadOnlyTests.changes)
    func change(_ command: String) throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient")
        let change = command.replacing("KID", with: kid).replacing("Keys/", with: "disk/Keys/")
        let time = Workplace.later(83 * Workplace.days)
        let output = try FullDisk.run(
            """
            cp -a Keys disk/Keys && mount -o remount,ro disk || exit
            "$PUSHCRYPT" \(change) --at \(time) 2>err
            echo $?
            "$PUSHCRYPT" keys verify disk/Keys/ios --at \(time) >/dev/null && diff -r Keys disk/Keys
            """, in: place)
        #expect(output.isSuccess && output.text == "77\n", "\(output)")
        #expect(String(decoding: try place.read("err"), as: UTF8.self).contains("Read-only file system"))
    }

    @Test("keys verify on a read-only file system reports the unfinished change")
    func verify() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.interruptedAdd("Keys/ios")
        let output = try FullDisk.run(
            """
            cp -a Keys disk/Keys && mount -o remount,ro disk || exit
            "$PUSHCRYPT" keys verify disk/Keys/ios --at \(Workplace.now)
            """, in: place)
        #expect(output.exit == 65, "\(output)")
        #expect(output.stderr == "pushcrypt: disk/Keys/ios: 2 findings\n")
    }
}
