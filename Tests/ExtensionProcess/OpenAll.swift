import PushCryptExtension

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `open-all JWK PAYLOADS TOPIC AT`: delivers each line of a file and prints `restored COUNT`, `peak KIB` (by how much the peak of
/// the resident memory rose over what it was before the first push) and, in microseconds from request to handler,
/// `median` and `p99`.
enum OpenAll {
    @Sendable static func run(_ arguments: [String]) async throws {
        let jwk = Array(try Data(contentsOf: URL(fileURLWithPath: arguments[0])))
        let lines = try Data(contentsOf: URL(fileURLWithPath: arguments[1])).split(separator: UInt8(ascii: "\n"))
        let time = UnixTime(Int64(arguments[3]) ?? 0)
        let opener = try Opener(topic: arguments[2], keyring: KeysetKeyring(try Keyset(json: jwk)), senders: .unsigned)
        var durations = [Duration]()
        durations.reserveCapacity(lines.count)
        var restoredCount = 0
        let before = try ResidentMemory.peak()
        for line in lines {
            let start = ContinuousClock.now
            let delivery = await deliver(Array(line), opener, at: time)
            durations.append(ContinuousClock.now - start)
            if delivery.isRestored { restoredCount += 1 }
        }
        durations.sort()
        print("restored \(restoredCount)")
        print("peak \(try ResidentMemory.peak() - before)")
        print("median \(durations[durations.count / 2] / .microseconds(1))")
        print("p99 \(durations[durations.count * 99 / 100] / .microseconds(1))")
    }

    private static func deliver(
        _ payload: [UInt8], _ opener: Opener, at time: UnixTime
    ) async -> DeliverySession.Delivery {
        await withCheckedContinuation { continuation in
            DeliverySession(
                payload: payload, opener: opener, configuration: .init(fallback: .outerAlert(orElse: .standard)),
                clock: { time }, handler: { continuation.resume(returning: $0) }
            ).start()
        }
    }
}
