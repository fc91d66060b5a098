import Foundation
import Testing

/// A closed stream ends the tool with a message and a status, never by a signal, and no data is written to another file.
@Suite("standard streams that are closed", .ownThreads)
struct ClosedStreamTests {
    static let commands = [
        #""$PUSHCRYPT" demo"#, #""$PUSHCRYPT" --help"#, #""$PUSHCRYPT" keys list Keys/ios"#,
        #""$PUSHCRYPT" keys list Keys/ios --json"#, #""$PUSHCRYPT" keys export Keys/ios"#,
        #""$PUSHCRYPT" keys create Keys/new --kind sender --insecure-plaintext"#,
        #""$PUSHCRYPT" seal --to Keys/ios --topic a.b <inner"#,
        #""$PUSHCRYPT" open --keys Keys/ios --topic com.example.app --at 1772355600 <sealed"#,
        #""$PUSHCRYPT" inspect <sealed"#,
    ]

    @Test("a closed stdout exits 74 with a message", arguments: commands)
    func closedStdout(_ command: String) throws {
        let place = try makePlace()
        let output = try place.shell("\(command) >&-")
        expectRefusal(output, 74, saying: "can't write to stdout")
    }

    @Test("data for a closed stdout is never written to another file")
    func noFileIsHit() throws {
        let place = try makePlace()
        let before = try place.read("Keys/ios.keyset")
        expectRefusal(try place.shell(#""$PUSHCRYPT" keys export Keys/ios <&- >&-"#), 74)
        #expect(try place.read("Keys/ios.keyset") == before)
    }

    @Test(
        "a full device as stdout exits 74 with a message",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "no /dev/full here"),
        arguments: commands)
    func full(_ command: String) throws {
        let place = try makePlace()
        expectRefusal(try place.shell("\(command) >/dev/full"), 74, saying: "can't write to stdout")
    }

    /// The command begins after the reader has closed the pipe.
    @Test("a pipe without a reader exits 74 with a message", arguments: commands)
    func closedPipe(_ command: String) throws {
        let place = try makePlace()
        let output = try place.shell(
            "mkfifo pipe gone; { exec 3>pipe; read line <gone; \(command) >&3; echo $? >status; } & "
                + "{ exec 3<pipe; exec 3<&-; echo >gone; }; wait")
        #expect(String(decoding: try place.read("status"), as: UTF8.self) == "74\n", "\(output)")
        #expect(output.stderr.contains("can't write to stdout: Broken pipe"), "\(output)")
    }

    @Test("a closed stdin is treated as empty input")
    func closedStdin() throws {
        let place = try makePlace()
        expectRefusal(try place.shell(#""$PUSHCRYPT" seal --to Keys/ios --topic a.b <&-"#), 65)
        expectRefusal(try place.shell(#""$PUSHCRYPT" inspect <&-"#), 65)
        try expectPlaceholder(
            try place.shell(#""$PUSHCRYPT" open --keys Keys/ios --topic a.b <&-"#), "malformed",
            note: ": stdin has no payload: it is empty")
    }

    @Test("a closed stderr leaves the exit status unchanged", arguments: [("none", 66), ("Keys/ios", 65)])
    func closedStderr(_ keys: String, _ status: Int32) throws {
        let place = try makePlace()
        let output = try place.shell("\"$PUSHCRYPT\" open --keys \(keys) --topic a.b <inner 2>&-")
        #expect(output.exit == status, "\(output)")
        #expect(output.stderr.isEmpty)
        let allClosed = try place.shell("\"$PUSHCRYPT\" keys list \(keys) <&- >&- 2>&-")
        #expect(allClosed.exit == (status == 66 ? 66 : 74), "\(allClosed)")
    }

    private func makePlace() throws -> Workplace { try Self.made.get().place() }

    private static let made = Result {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.write(Workplace.inner, to: "inner")
        try place.write(try place.sealed(to: "Keys/ios"), to: "sealed")
        return try PlaceSnapshot(place)
    }
}
