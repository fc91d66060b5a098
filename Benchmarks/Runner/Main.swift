import PushCryptCore
import RunnerProtocol

// runner             answers jobs
// runner sealed      prints messages that it sealed, for another implementation to open
// runner open        opens the messages that another implementation sealed

@main
enum Main {
    static func main() throws {
        switch CommandLine.arguments.dropFirst().first {
        case nil: try JobRunner(name: "library \(versions)", operation: Jobs.operation).run()
        case "sealed": try Crosscheck.printSealed()
        case "open": try Crosscheck.openAll()
        default: throw UsageError()
        }
    }

    private static var versions: String { "pushcrypt, \(DefaultBackend.shared.name)" }
}

struct UsageError: Error, CustomStringConvertible {
    var description: String { "usage: runner [sealed | open]" }
}
