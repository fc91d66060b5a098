/// An extension in a process of its own: what happens to it when it is killed, and how much memory it takes.
///
/// `PushCryptTestExtension COMMAND ARGUMENT…`
@main
enum ExtensionProcess {
    typealias Command = @Sendable (_ arguments: [String]) async throws -> Void

    private static let commands: [String: Command] = [
        "deliver": Deliver.run,
        "keyring": KeyringCommand.run,
        "open-all": OpenAll.run,
        "store-claim": StoreClaim.run,
        "store-hammer": StoreHammer.run,
        "store-hold": StoreHold.run,
        "store-try": StoreTry.run,
    ]

    static func main() async throws {
        guard let name = CommandLine.arguments.dropFirst().first, let command = commands[name] else {
            print("usage: one of \(commands.keys.sorted()), for the tests")
            return
        }
        try await command(Array(CommandLine.arguments.dropFirst(2)))
    }

    struct Misuse: Error {}
}
