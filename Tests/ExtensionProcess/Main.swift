/// An extension in a process of its own: what happens to it when it is killed, and how much memory it takes.
@main
enum ExtensionProcess {
    typealias Command = @Sendable (_ arguments: [String]) async throws -> Void

    private static let commands: [String: Command] = [
        "attach": Attach.run,
        "receive": Receive.run,
    ]

    static func main() async throws {
        guard let name = CommandLine.arguments.dropFirst().first, let command = commands[name] else {
            print("usage: one of \(commands.keys.sorted()), for the tests")
            return
        }
        try await command(Array(CommandLine.arguments.dropFirst(2)))
    }
}
