import ArgumentParser
import Foundation

/// Starts everything on this machine, and checks what the phones show.
@main struct Rehearsal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearsal", abstract: "Runs the service against the APNs stand-in and simulated phones.",
        subcommands: [Demo.self, FaultRun.self, Speed.self, Serve.self])
}

/// What every rehearsal needs.
struct Tools: ParsableArguments {
    @Option(help: "The tool pushcrypt.") var pushcrypt: String
    @Option(help: "The program push-service.") var service: String
    @Option(help: "A new or empty folder for logs and keys, which is kept; the default is one that is removed.")
    var keep: String?

    func validate() throws {
        guard let keep, let names = try? FileManager.default.contentsOfDirectory(atPath: keep), !names.isEmpty else {
            return
        }
        throw ValidationError("--keep \(keep): the folder isn't empty; each run makes its own keys in a new one")
    }
}

/// Why a rehearsal failed.
struct RehearsalError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
