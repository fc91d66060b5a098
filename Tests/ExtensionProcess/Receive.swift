import PushCryptExtension
import PushCryptURLSession
import Synchronization

/// `receive SMALL ADDRESS ROUNDS`: fetches a small body, so that the network library is there, and then another, looks at
/// every byte of that so many times, and prints `bytes COUNT`, `library KIB` and `growth KIB`: how much memory either took
/// at most.
enum Receive {
    @Sendable static func run(_ arguments: [String]) async throws {
        let rounds = Int(arguments[2]) ?? 1
        let start = try ResidentMemory.now()
        let transport = URLSessionTransport(policy: TransferPolicy(allowsLoopbackHTTP: true))
        try await transport.get(arguments[0]) { _ in }
        let before = try ResidentMemory.peak()
        let byteCount = Atomic(0)
        let sum = Atomic(0)
        try await transport.get(arguments[1]) { piece in
            byteCount.add(piece.count, ordering: .relaxed)
            for _ in 0..<rounds { sum.add(piece.reduce(0) { $0 &+ Int($1) }, ordering: .relaxed) }
        }
        print("bytes \(byteCount.load(ordering: .relaxed))")
        print("library \(before - start)")
        print("growth \(try ResidentMemory.peak() - before)")
    }
}
