import CPushCryptOpenSSL
import Glibc

/// Makes allocations of the library's first operation in a process fail. Each is a child process, and this process must not
/// have called OpenSSL.
///
/// OpenSSL itself has started before: version 3.0 follows a null pointer if it lacks memory for its own first structures.
/// If it lacks memory while it registers a provider's algorithms, it never finds them again in this process. No caller can
/// prevent either, so such processes are only counted.
enum ColdSweep {
    /// fork(2), which Swift's Glibc module hides because it is unsafe with several threads. This process has one.
    private static let fork = unsafe unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)

    private enum Result: Int32 {
        case unreached, right, refused, wrong, misleading
    }

    /// - Parameters:
    ///   - first: the number of the first allocation that fails.
    ///   - step: every step-th allocation fails, in a process each.
    static func allocations(of operation: Operation, from first: Int, step: Int) -> Tally {
        var tally = Tally()
        var unrecovered = 0
        var number = first
        while true {
            let place = "\(operation.name), first in its process, allocation \(number)"
            let status = child {
                startOpenSSL()
                FailingAllocator.plan(.one(number))
                let outcome = Outcome { try operation.prepare()() }
                let hasFailed = FailingAllocator.hasFailed
                FailingAllocator.plan(.none)
                let again = Outcome { try operation.prepare()() } == .right ? 0 : Int32(16)
                return again + (hasFailed ? result(of: outcome) : .unreached).rawValue
            }
            guard let status, let result = Result(rawValue: status & 15) else {
                tally.flaw("\(place): the process crashed")
                number += step
                continue
            }
            if result == .unreached { break }
            if status & 16 != 0 { unrecovered += 1 }
            let outcome: Outcome =
                switch result {
                case .right: .right
                case .refused: .backendFailure
                case .wrong: .wrong
                default: .misleading("an error that blames the input")
                }
            tally.add(outcome, place, mayBlameInput: operation.mayBlameInput)
            number += step
        }
        tally.unrecovered(unrecovered)
        tally.require(.memory, of: operation)
        return tally
    }

    /// Loads the provider and seeds the random source.
    private static func startOpenSSL() {
        var byte: UInt8 = 0
        precondition(unsafe RAND_priv_bytes(&byte, 1) == 1 && RAND_bytes(&byte, 1) == 1)
        for name in ["AES-128-GCM", "AES-256-GCM"] { unsafe EVP_CIPHER_free(EVP_CIPHER_fetch(nil, name, nil)) }
    }

    private static func result(of outcome: Outcome) -> Result {
        switch outcome {
        case .right: .right
        case .backendFailure: .refused
        case .wrong: .wrong
        case .misleading: .misleading
        }
    }

    /// Runs `body` in a child process; nil if a signal ended it.
    private static func child(_ body: () -> Int32) -> Int32? {
        let process = fork()
        precondition(process >= 0, "fork failed")
        if process == 0 { _exit(body()) }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
        return status & 0x7f == 0 ? (status >> 8) & 0xff : nil
    }
}
