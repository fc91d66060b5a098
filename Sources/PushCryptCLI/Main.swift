import ArgumentParser

/// Runs the command. An error becomes one line on stderr and a documented exit status.
@main
enum Main {
    static func main() async {
        CrashOutput.turnOff()
        StandardStreams.prepare()
        do { try await run() } catch { end(error) }
    }

    /// Runs on the main thread, which a command may block. A blocked thread of the cooperative pool would stop a batch.
    @MainActor private static func run() async throws {
        var command = try PushCrypt.parseAsRoot(GivenValues.checked())
        if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
    }

    private static func end(_ error: any Error) -> Never {
        // The command has written its messages.
        if error is ExitCode { PushCrypt.exit(withError: error) }
        switch PushCrypt.exitCode(for: error) {
        case .success:
            // Help and the version were asked for, so they are data on stdout.
            do {
                try StandardStreams.write(PushCrypt.fullMessage(for: error) + "\n")
                PushCrypt.exit()
            } catch {
                end(error)
            }
        // Every error but those of the parser.
        case .failure:
            let failure = Failure(error)
            StandardStreams.writeError(failure.message)
            PushCrypt.exit(withError: ExitCode(failure.status.rawValue))
        case .validationFailure where !(error is ExitCode):
            let message = PushCrypt.fullMessage(for: error)
            StandardStreams.writeRaw(UsageAdvice.added(to: message, Array(CommandLine.arguments.dropFirst())) + "\n")
            PushCrypt.exit(withError: ExitCode.validationFailure)
        default: PushCrypt.exit(withError: error)
        }
    }
}
