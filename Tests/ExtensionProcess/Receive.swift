import PushCryptApple
import PushCryptExtension
import PushCryptPrimitives

/// `receive SMALL ADDRESS ROUNDS`: fetches a small body, so that the network library is there, and then another, looks at
/// every byte of that so many times, and prints `bytes COUNT`, `library KIB` and `growth KIB`: how much memory either took
/// at most.
enum Receive {
    @Sendable static func run(_ arguments: [String]) async throws {
        let rounds = Int(arguments[2]) ?? 1
        let start = try ResidentMemory.now()
        let transport = URLSessionTransport(
            policy: TransferPolicy(allowsLoopbackHTTP: true), idleTimeout: .seconds(86_400),
            headTimeout: .seconds(86_400))
        try await transport.get(arguments[0]) { _ in }
        let before = try ResidentMemory.peak()
        let seen = Locked((byteCount: 0, sum: 0))
        try await transport.get(arguments[1]) { piece in
            seen.withLock { seen in
                seen.byteCount += piece.count
                for _ in 0..<rounds { seen.sum &+= piece.reduce(0) { $0 &+ Int($1) } }
            }
        }
        print("bytes \(seen.withLock { $0.byteCount })")
        print("library \(before - start)")
        print("growth \(try ResidentMemory.peak() - before)")
    }
}
