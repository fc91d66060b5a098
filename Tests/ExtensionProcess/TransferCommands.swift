import PushCryptApple
import PushCryptExtension
import PushCryptPrimitives

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `attach JWK PAYLOAD TOPIC AT ORIGIN FOLDER`: opens a push and fetches its attachments, from ORIGIN in place of
/// https://files.example/. It prints `attached COUNT`, `missing COUNT` and `growth KIB` (the growth of the peak of the
/// memory since the network library was loaded).
enum Attach {
    @Sendable static func run(_ arguments: [String]) async throws {
        let jwk = Array(try Data(contentsOf: URL(fileURLWithPath: arguments[0])))
        let payload = Array(try Data(contentsOf: URL(fileURLWithPath: arguments[1])))
        let opener = try Opener(topic: arguments[2], keyring: KeysetKeyring(try Keyset(json: jwk)), senders: .unsigned)
        let push = try opener.open(payload, at: UnixTime(Int64(arguments[3]) ?? 0)).get()
        let transport = RedirectedTransport(origin: arguments[4])
        try await transport.get(arguments[4] + "small") { _ in }
        let before = try ResidentMemory.peak()
        let stage = AttachmentStage(
            configuration: .init(folder: arguments[5], timeLimit: .seconds(600)), transport: transport)
        let content = try await stage.process(push.content, of: push)
        print("attached \(content.attachments.count)")
        print("missing \(content.missingAttachmentCount)")
        print("growth \(try ResidentMemory.peak() - before)")
    }
}

/// Fetches https://files.example/ from a server on loopback, which has no certificate.
private struct RedirectedTransport: HTTPTransport {
    let origin: String
    private let transport = URLSessionTransport(
        policy: TransferPolicy(allowsLoopbackHTTP: true), idleTimeout: .seconds(86_400),
        headTimeout: .seconds(86_400))

    init(origin: String) {
        self.origin = origin
    }

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        try await transport.get(address.replacing("https://files.example/", with: origin), receive: receive)
    }

    func post(_ post: HTTPPost) async throws {
        try await transport.post(post)
    }
}

/// `flush FOLDER ADDRESS COUNT`: stores COUNT receipts and posts them to the address without a time limit. It prints
/// `sent COUNT`, `left COUNT` and `growth KIB` (the growth of the peak of the memory).
enum Flush {
    @Sendable static func run(_ arguments: [String]) async throws {
        let store = SharedStore(folder: arguments[0], role: .app)
        let never = Duration.seconds(86_400)
        let transport = URLSessionTransport(
            policy: TransferPolicy(allowsLoopbackHTTP: true), idleTimeout: never, headTimeout: never)
        let posting = try ReceiptPosting(to: arguments[1], transport: transport, timeLimit: never)
        let sender = ReceiptSender(store: store, posting: posting)
        for _ in 0..<(Int(arguments[2]) ?? 1) { _ = try store.recordInFile(DeliveryRecord(report: report())) }
        let before = try ResidentMemory.peak()
        let flush = try await sender.flush(timeLimit: never)
        print("sent \(flush.sentCount)")
        print("left \(flush.leftCount)")
        print("growth \(try ResidentMemory.peak() - before)")
    }

    /// A report with a receipt, which has a random id.
    private static func report() throws -> DeliveryReport {
        var report = DeliveryReport(
            failure: nil, isRestored: true, time: UnixTime(4_000_000_000), kid: nil, messageID: nil, pushID: nil,
            isSelfTest: false, stageFailures: [])
        report.receipt = try Receipt(report)
        return report
    }
}

/// `receive SMALL ADDRESS ROUNDS`: fetches a small body, which loads the network library, and then a large one, whose bytes
/// it reads ROUNDS times. It prints `bytes COUNT`, `library KIB` and `growth KIB` (the growth of the peak of the memory by
/// the first and the second body).
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

/// `refuse ADDRESS COUNT`: starts COUNT transfers, four at once, each with a transport of its own, and refuses the first piece
/// of the body. It prints `refused COUNT`.
enum Refuse {
    private struct Refusal: Error {}

    @Sendable static func run(_ arguments: [String]) async throws {
        let (address, count) = (arguments[0], Int(arguments[1]) ?? 1)
        let refusedCount = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var refusedCount = 0
                    for _ in 0..<count / 4 {
                        do {
                            let transport = URLSessionTransport(policy: TransferPolicy(allowsLoopbackHTTP: true))
                            try await transport.get(address) { _ in throw Refusal() }
                        } catch is Refusal {
                            refusedCount += 1
                        }
                    }
                    return refusedCount
                }
            }
            return try await group.reduce(0, +)
        }
        print("refused \(refusedCount)")
    }
}
