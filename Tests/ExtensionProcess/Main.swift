#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

@main
enum ExtensionProcess {
    private static let commands: [String: @Sendable ([String]) throws -> Void] = [
        "keyring": KeyringCommand.run
    ]

    static func main() throws {
        guard let name = CommandLine.arguments.dropFirst().first, let command = commands[name] else { exit(64) }
        try command(Array(CommandLine.arguments.dropFirst(2)))
    }
}
