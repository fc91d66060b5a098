import Foundation

/// Makes calls of OpenSSL fail, one after the other, in every operation of the library. See Tests/deep/faults/run.
///
///     PushCryptFaults allocations|random|cold [--from N] [--step N] [NAME]
///
/// Prints the counts; exit status 1 if a result was wrong, blamed the input, or left memory or an error behind.
@main struct Faults {
    static func main() throws {
        var arguments = CommandLine.arguments.dropFirst()
        let fault = arguments.popFirst() ?? ""
        var numbers = ["--from": 1, "--step": 1]
        while let name = arguments.first, numbers[name] != nil {
            arguments.removeFirst()
            numbers[name] = arguments.popFirst().flatMap { Int($0) } ?? 1
        }
        let (first, step) = (numbers["--from"] ?? 1, numbers["--step"] ?? 1)
        let operations = Operations.all.filter { arguments.isEmpty || arguments.contains($0.name) }
        let sweep: (Operation) throws -> Tally
        switch fault {
        case "allocations":
            FailingAllocator.install()
            sweep = Sweep.allocations
        case "random":
            FailingRandom.install()
            sweep = Sweep.randomness
        case "cold":
            FailingAllocator.install()
            sweep = { ColdSweep.allocations(of: $0, from: first, step: step) }
        default:
            FileHandle.standardError.write(
                Data("usage: PushCryptFaults allocations|random|cold [--from N] [--step N] [NAME]\n".utf8))
            exit(64)
        }
        var total = Tally()
        for operation in operations {
            let tally = try sweep(operation)
            print("\(operation.name): \(tally.counts)")
            for flaw in tally.flaws { print("  FLAW \(flaw)") }
            total.add(tally)
        }
        print("\(operations.count) operations, \(total.flaws.count) flaws, \(total.counts)")
        exit(total.flaws.isEmpty && total.failures > 0 ? 0 : 1)
    }
}
