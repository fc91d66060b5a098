#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `PushCryptTestExtension COMMAND ARGUMENT…`: an app or its extension in a separate process, for tests that kill it, run two
/// of them at once, or measure its memory.
@main
enum ExtensionProcess {
    typealias Command = @Sendable (_ arguments: [String]) async throws -> Void

    private static let commands: [String: Command] = [
        "attach": Attach.run,
        "deliver": Deliver.run,
        "flush": Flush.run,
        "keyring": KeyringCommand.run,
        "offload": Offload.run,
        "open-all": OpenAll.run,
        "receive": Receive.run,
        "refuse": Refuse.run,
        "senders": SenderSetCommand.run,
        "sessions": SessionCommand.run,
        "store-claim": StoreClaim.run,
        "store-hammer": StoreHammer.run,
        "store-hold": StoreHold.run,
        "store-show": StoreShow.run,
        "store-try": StoreTry.run,
    ]

    struct Misuse: Error {}

    static func main() async throws {
        guard let name = CommandLine.arguments.dropFirst().first, let command = commands[name] else { throw Misuse() }
        try await command(Array(CommandLine.arguments.dropFirst(2)))
    }
}

/// The resident memory of this process, in KiB.
enum ResidentMemory {
    struct Unknown: Error {}

    static func now() throws -> Int { try line("VmRSS:") }

    /// The maximum since the process started.
    static func peak() throws -> Int { try line("VmHWM:") }

    private static func line(_ name: String) throws -> Int {
        let status = String(decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/self/status")), as: UTF8.self)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let number = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({ Int($0) })
        else { throw Unknown() }
        return number
    }
}
