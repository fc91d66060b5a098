import ArgumentParser
import BackendTestSupport
import Foundation
import Testing

@testable import apns_stand_in
@testable import rehearsal

@Suite("options of the programs") struct ProgramTests {
    private static let standIn = [
        "--provider-key", "p", "--provider-key-id", "K", "--team-id", "T", "--certificate", "c",
    ]

    private func refusal<Program: ParsableCommand>(_ program: Program.Type, _ arguments: [String]) -> String? {
        do { _ = try program.parseAsRoot(arguments) } catch { return program.fullMessage(for: error) }
        return nil
    }

    @Test("a port above 65535 is refused, and the message names the option and the range", arguments: ["65536", "-1"])
    func port(port: String) throws {
        let message = try #require(refusal(StandInCommand.self, Self.standIn + ["--port=\(port)"]))
        #expect(message.contains("--port") && message.contains("1 to 65535"))
        #expect(refusal(StandInCommand.self, Self.standIn + ["--port", "0"]) == nil)
    }

    @Test("a rehearsal with no pushes, phones or clients is refused")
    func counts() {
        let tools = ["--pushcrypt", "p", "--service", "s"]
        for arguments in [
            ["demo", "--pushes", "0"], ["speed", "--phones", "0"], ["speed", "--clients", "0"],
            ["faults", "--pushes", "499"],
        ] { #expect(refusal(Rehearsal.self, arguments + tools) != nil, "\(arguments)") }
    }

    @Test("a rehearsal's folder that isn't empty is refused, and the message names it")
    func keep() throws {
        let folder = try TemporaryFolder()
        let arguments = ["demo", "--pushcrypt", "p", "--service", "s", "--keep", folder.path]
        #expect(refusal(Rehearsal.self, arguments) == nil)
        try folder.write(Data(), to: "service.log")
        #expect(refusal(Rehearsal.self, arguments)?.contains("--keep \(folder.path)") == true)
    }

    @Test("a program without a slash is looked up in PATH, and its exit status is returned")
    func path() async throws {
        let child = try ChildProcess("sh", ["-c", "exit 7"], log: .nullDevice)
        #expect(await child.ended == 7)
    }
}
