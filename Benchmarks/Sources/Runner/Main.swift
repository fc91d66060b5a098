import PushCryptCore
import RunnerProtocol

// runner                             answers jobs
// runner sealed                      seals messages and prints them, for another implementation to open
// runner open                        opens the messages that another implementation sealed
// runner first JOB                   runs a job once in a new process, including all set-up
// runner batch SUITE COUNT KEYFILE   prints lines for `pushcrypt seal --batch`
// runner deliveries SUITE COUNT DIR  writes the files of an app and its pushes, for delivery-process
// runner costs DIR                   answers jobs that measure parts of a delivery

@main
enum Main {
    static func main() throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, words.count) {
        case (nil, 0): try JobRunner(name: "library \(versions)", operation: Jobs.operation).run()
        case ("sealed", 1): try Crosscheck.printSealed()
        case ("open", 1): try Crosscheck.openAll()
        case ("first", 2): try Jobs.operation(words[1])?()
        case ("batch", 4): try BatchInput(suite: words[1], count: words[2], keyFile: words[3]).write()
        case ("costs", 2):
            try JobRunner(name: "library \(versions)", operation: DeliveryCosts(folder: words[1]).operation).run()
        case ("deliveries", 4): try DeliveryInput(suite: words[1], count: words[2], folder: words[3]).write()
        default: throw UsageError()
        }
    }

    private static var versions: String { "pushcrypt, \(DefaultBackend.shared.name)" }
}

struct UsageError: Error, CustomStringConvertible {
    var description: String {
        "usage: runner [sealed | open | first JOB | batch SUITE COUNT KEYFILE | deliveries SUITE COUNT DIR |"
            + " costs DIR]"
    }
}
