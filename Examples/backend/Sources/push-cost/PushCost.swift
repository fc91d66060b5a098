import ArgumentParser
import Foundation
import PushCryptSender

/// Measures the processor time of pushes for Benchmarks/push. A line `JOB COUNT` on standard input has the nanoseconds of this
/// process for COUNT pushes as its answer.
@main
struct PushCost: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push-cost", abstract: "Answers how much processor time pushes take.")

    @Option(help: "The server, such as https://localhost:8443.") var server: String
    @Option(help: "The server's certificate, a PEM file.") var trust: String
    @Option(help: "The provider key, a .p8 file.") var providerKey: String
    @Option(help: "The id of this key.") var providerKeyID: String
    @Option(help: "The id of the team.") var teamID: String

    func run() async throws {
        let key = try String(contentsOfFile: providerKey, encoding: .utf8)
        let token = try providerToken(key: key, keyID: providerKeyID, teamID: teamID)
        let connection = try PushConnection(server: server, trust: trust, token: token)
        do {
            try await connection.open()
            try await answer(PushJobs(connection: connection))
        } catch {
            try await connection.shutDown()
            throw error
        }
        try await connection.shutDown()
    }

    private func answer(_ jobs: PushJobs) async throws {
        say("push-cost")
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard words.count == 2, let job = PushJobs.Job(words[0]), let count = Int(words[1]), count > 0 else {
                say("unsupported")
                continue
            }
            say(String(try await jobs.nanoseconds(job, count)))
        }
    }

    private func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}
