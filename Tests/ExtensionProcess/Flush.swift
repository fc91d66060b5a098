import PushCryptApple
import PushCryptExtension

/// `flush FOLDER ADDRESS COUNT`: keeps so many receipts in a store, posts them to the address, and prints `sent COUNT`,
/// `left COUNT` and `growth KIB`: by how much the peak of the memory rose. No time limit ends it.
enum Flush {
    @Sendable static func run(_ arguments: [String]) async throws {
        let store = SharedStore(folder: arguments[0], role: .app)
        let never = Duration.seconds(86_400)
        let transport = URLSessionTransport(
            policy: TransferPolicy(allowsLoopbackHTTP: true), idleTimeout: never, headTimeout: never)
        // Nothing is sent before the flush.
        let delay = ReceiptSender.Delay(draw: { .zero }, sleep: { _ in throw CancellationError() })
        let sender = ReceiptSender(
            store: store, address: arguments[1], transport: transport, delay: delay, postTimeLimit: never)
        for number in 0..<(Int(arguments[2]) ?? 1) { sender.report(report("message \(number)")) }
        let before = try ResidentMemory.peak()
        let flush = try await sender.flush(timeLimit: never)
        print("sent \(flush.sentCount)")
        print("left \(flush.leftCount)")
        print("growth \(try ResidentMemory.peak() - before)")
    }

    private static func report(_ id: String) -> DeliveryReport {
        DeliveryReport(
            failure: nil, isRestored: true, time: UnixTime(4_000_000_000), kid: nil, messageID: id, pushID: nil,
            isSelfTest: false, stageFailures: [])
    }
}
