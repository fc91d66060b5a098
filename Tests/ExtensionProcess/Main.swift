import PushCryptExtension

/// `PushCryptTestExtension COMMAND ARGUMENT…`: what tests need a process of its own for.
@main
enum ExtensionProcess {
    static func main() throws {
        let words = Array(CommandLine.arguments.dropFirst())
        let arguments = Array(words.dropFirst())
        switch words.first {
        case "store-hammer": try StoreHammer.run(arguments)
        case "store-claim": try StoreClaim.run(arguments)
        case "store-hold": try StoreHold.run(arguments)
        case "store-try": StoreTry.run(arguments)
        default: throw Misuse()
        }
    }

    struct Misuse: Error {}
}
