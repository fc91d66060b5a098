import ArgumentParser

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
    @Option(help: "A folder for logs and keys, which is kept; by default a temporary one, which is removed.") var keep:
        String?
}

/// Why a rehearsal failed.
struct RehearsalError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
