import Foundation
import PushCryptKeysets
import PushCryptTestSupport
import Testing

/// Places in which no change can be made.
@Suite("a change that can't be made", .ownThreads)
struct RefusedChangeTests {
    private static let changing = ChangingCommand.all.filter { !$0.isCreation }

    /// An attacker could change a link between a check and a use.
    @Test(
        "changes exit 78 for a link in place of a keyset's file, also rotate, and a keyset is made beside it",
        arguments: ChangingCommand.all)
    func linkedFile(_ command: ChangingCommand) throws {
        let place = try ChangingCommand.place()
        let script = "for file in Keys/*.keyset; do mv $file ${file#Keys/}; ln -s ../${file#Keys/} $file; done"
        try #require(place.shell(script).isSuccess)
        let before = try place.contents(of: ".")
        let output = try place.run(command.arguments(in: place))
        if command.isCreation {
            #expect(output.exit == 0, "\(output)")
            let changed = try before.filter { try place.read($0.key) != $0.value }
            #expect(changed.keys.allSatisfy { !$0.hasSuffix(".keyset") }, "\(changed.keys)")
        } else {
            try expectRefused(output, 78, "symbolic link", place, before)
        }
    }

    @Test("changes exit 78 for a link in place of the keystore; init exits 73", arguments: ChangingCommand.all)
    func linkedFolder(_ command: ChangingCommand) throws {
        let place = try ChangingCommand.place()
        try #require(place.shell("mv Keys real && ln -s real Keys").isSuccess)
        let before = try place.contents(of: ".")
        let output = try place.run(command.arguments(in: place))
        let isInit = command.testDescription == "init"
        try expectRefused(output, isInit ? 73 : 78, isInit ? "isn't a folder" : "symbolic link", place, before)
    }

    @Test("a link in place of a served set, and one in the keystore's history, aren't followed")
    func linkedResults() throws {
        let place = try ChangingCommand.place()
        let set = try #require(place.names(in: "www").first)
        let victim = Data("not to be changed".utf8)
        try place.write(victim, to: "victim")
        try #require(place.shell("ln -sf ../victim www/\(set)").isSuccess)
        #expect(try place.run(ChangingCommand.rotate.arguments(in: place)).exit == 0)
        #expect(try place.read("victim") == victim)
        let id = try place.log("Keys/senders").state.id
        try #require(place.shell("ln -sf ../victim history/\(id)").isSuccess)
        expectRefusal(try place.run(ChangingCommand.rotate.arguments(in: place)), 78, saying: "history/\(id)")
        #expect(try place.read("victim") == victim)
    }

    @Test(
        "changes in folders that the user can't write exit 77 and change nothing; list and seal work",
        .enabled(if: Unprivileged.isAvailable, Unprivileged.missing), arguments: ChangingCommand.all)
    func readOnlyFolder(_ command: ChangingCommand) throws {
        let place = try ChangingCommand.place()
        let words = try command.arguments(in: place).joined(separator: " ")
        try place.giveAway()
        for folder in ChangingCommand.folders { try place.setMode(0o500, of: folder) }
        let before = try place.contents(of: ".")
        let output = try place.shell("\(Unprivileged.prefix) \"$PUSHCRYPT\" \(words)")
        try expectRefused(output, 77, "Permission denied", place, before)
        let seal = "seal --to Keys/fleet --bare --topic com.example.app --at \(ChangingCommand.time)"
        for reading in ["keys list Keys/senders", seal] {
            let read = try place.shell("\(Unprivileged.prefix) \"$PUSHCRYPT\" \(reading)", stdin: Workplace.inner)
            #expect(read.isSuccess, "\(reading): \(read)")
        }
    }

    @Test(
        "changes on a read-only file system exit 78, because a person must act, and list works",
        .enabled(if: FullDisk.isAvailable, FullDisk.missing), arguments: changing)
    func readOnlyFileSystem(_ command: ChangingCommand) throws {
        let output = try onDisk(
            "mount -o remount,ro disk || exit; run >out 2>err; echo $? >status", command)
        #expect(output.status == "78\n" && output.messages.contains("Read-only file system"), "\(output)")
    }

    @Test(
        "a change on a full disk exits 74 and changes nothing, and works when there is space",
        .enabled(if: FullDisk.isAvailable, FullDisk.missing), arguments: ChangingCommand.all)
    func fullDisk(_ command: ChangingCommand) throws {
        let output = try onDisk(
            """
            fill 0; run >out 2>err; echo $? >status
            make_room; for folder in Keys Publisher history www; do diff -r $folder disk/$folder || exit; done
            run >out
            """, command)
        #expect(output.status == "74\n" && output.messages.contains("No space left on device"), "\(output)")
    }

    /// Hard links keep the pages of the replaced files, so each write needs free pages.
    @Test(
        "a disk that is full before any write leaves the old or new keyset, and the next run finishes",
        .enabled(if: FullDisk.isAvailable, FullDisk.missing))
    func everyWrite() throws {
        var failed: Set<String> = []
        for pages in 0...8 {
            let output = try onDisk(
                """
                mkdir disk/links; ln disk/Keys/* disk/history/* disk/www/* disk/links
                fill \(pages); run >out 2>err; echo $? >status
                "$PUSHCRYPT" keys list disk/Keys/senders >out || exit
                make_room; run >out && run >rest || exit
                ls disk/Keys disk/history disk/www | grep new-; test ! -s rest
                """, .rotate)
            let isDone = output.messages.isEmpty
            #expect(output.status == (isDone ? "0\n" : "74\n") || output.status == "69\n", "\(pages): \(output)")
            failed.formUnion(ChangingCommand.folders.filter { output.messages.contains("\($0)/") })
        }
        #expect(failed == ["Keys", "history"])
    }

    /// Runs a script in a copy of the place on a small disk, in which `run` is the command.
    private func onDisk(_ script: String, _ command: ChangingCommand) throws -> (status: String, messages: String) {
        let place = try ChangingCommand.place()
        let words = try command.arguments(in: place).joined(separator: " ")
        let copy = "cp -a Keys Publisher history www copy.keyset key pins.json pushcrypt.json wrap disk\n"
        let output = try FullDisk.run(copy + "run() { (cd disk && \"$PUSHCRYPT\" \(words)) }\n" + script, in: place)
        try #require(output.exit == 0 && output.text.isEmpty, "\(output)")
        return (
            String(decoding: try place.read("status"), as: UTF8.self),
            String(decoding: try place.read("err"), as: UTF8.self)
        )
    }

    private func expectRefused(
        _ output: Output, _ status: Int32, _ text: String, _ place: Workplace, _ before: [String: Data],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(output.exit == status && output.stdout.isEmpty, "\(output)", sourceLocation: sourceLocation)
        #expect(output.stderr.contains(text), "\(output)", sourceLocation: sourceLocation)
        // The history has the status of a run of rotate.
        let isSame =
            try place.contents(of: ".").filter { !$0.key.hasPrefix("history/") }
            == before.filter { !$0.key.hasPrefix("history/") }
        #expect(isSame, sourceLocation: sourceLocation)
    }
}
