import Foundation
import PushCryptApple
import PushCryptExtension
import PushCryptPrimitives
import UserNotifications

/// `deliver JWK PAYLOAD TOPIC AT [kill]`: prints the title of the delivered content. With `kill` a stage
/// ends the process as the system does when memory runs out.
enum Deliver {
    private struct KillStage: ContentStage {
        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            kill(getpid(), SIGKILL)
            return content
        }
    }

    @Sendable static func run(_ arguments: [String]) async throws {
        let bytes = try arguments.prefix(2).map { Array(try Data(contentsOf: URL(fileURLWithPath: $0))) }
        let time = UnixTime(Int64(arguments[3]) ?? 0)
        var configuration = try ExtensionConfiguration.of(bytes[0], topic: arguments[2], at: time)
        if arguments.last == "kill" { configuration.stages = [KillStage()] }
        let delivery = await configuration.delivery(of: bytes[1])
        print(delivery.content.title.literal ?? "")
    }
}

extension ExtensionConfiguration {
    /// A configuration that opens unsigned pushes with the keys of a JWK set at a fixed time, and shows the outer alert.
    static func of(_ jwk: [UInt8], topic: String, at time: UnixTime) throws -> ExtensionConfiguration {
        var configuration = try ExtensionConfiguration(
            topic: topic, keyring: KeysetKeyring(try Keyset(json: jwk)), senders: .unsigned,
            fallback: .outerAlert(orElse: .standard))
        configuration.clock = { time }
        return configuration
    }

    /// Runs a session for the payload and returns its delivery.
    func delivery(of payload: [UInt8]) async -> DeliverySession.Delivery {
        await withCheckedContinuation { continuation in
            DeliverySession(payload: payload, configuration: self) { continuation.resume(returning: $0) }.start()
        }
    }
}

/// `open-all JWK PAYLOADS TOPIC AT [STORE]`: delivers each line of a file, with a store if its folder is given. It prints `restored COUNT`, `peak KIB` (the growth of the
/// peak of the resident memory since the first push), and `median` and `p99` of the microseconds from start to handler.
enum OpenAll {
    @Sendable static func run(_ arguments: [String]) async throws {
        let jwk = Array(try Data(contentsOf: URL(fileURLWithPath: arguments[0])))
        let lines = try Data(contentsOf: URL(fileURLWithPath: arguments[1])).split(separator: UInt8(ascii: "\n"))
        let time = UnixTime(Int64(arguments[3]) ?? 0)
        var configuration = try ExtensionConfiguration.of(jwk, topic: arguments[2], at: time)
        if arguments.count > 4 { configuration.store = SharedStore(folder: arguments[4], role: .extension) }
        var durations = [Duration]()
        durations.reserveCapacity(lines.count)
        var restoredCount = 0
        let before = try ResidentMemory.peak()
        for line in lines {
            let start = ContinuousClock.now
            let delivery = await configuration.delivery(of: Array(line))
            durations.append(ContinuousClock.now - start)
            if delivery.isRestored { restoredCount += 1 }
        }
        durations.sort()
        print("restored \(restoredCount)")
        print("peak \(try ResidentMemory.peak() - before)")
        print("median \(durations[durations.count / 2] / .microseconds(1))")
        print("p99 \(durations[durations.count * 99 / 100] / .microseconds(1))")
    }
}

/// `offload JWK FOLDER TOPIC AT`: delivers `small.json` and then `large.json`, fetches the blobs `small` and `large` that they
/// name, and converts both contents to the system's content object. It prints `restored COUNT`, `members COUNT` (of the
/// `userInfo` of `large.json`) and `growth KIB` (the peak of the resident memory less its size after `small.json`).
enum Offload {
    @Sendable static func run(_ arguments: [String]) async throws {
        let jwk = Array(try Data(contentsOf: URL(fileURLWithPath: arguments[0])))
        let folder = URL(fileURLWithPath: arguments[1], isDirectory: true)
        let time = UnixTime(Int64(arguments[3]) ?? 0)
        var configuration = try ExtensionConfiguration.of(jwk, topic: arguments[2], at: time)
        configuration.strings = ["x": "%@"]
        configuration.offload = OffloadFetcher(transport: FolderTransport(folder: folder))
        var (restoredCount, memberCount, idle) = (0, 0, 0)
        for name in ["small", "large"] {
            idle = try ResidentMemory.now()
            let payload = Array(try Data(contentsOf: folder.appendingPathComponent(name + ".json")))
            let (isRestored, count) = await deliver(payload, configuration)
            restoredCount += isRestored ? 1 : 0
            memberCount = count
        }
        print("restored \(restoredCount)")
        print("members \(memberCount)")
        print("growth \(try ResidentMemory.peak() - idle)")
    }

    private static func deliver(
        _ payload: [UInt8], _ configuration: ExtensionConfiguration
    ) async -> (isRestored: Bool, memberCount: Int) {
        await withCheckedContinuation { continuation in
            DeliverySession(payload: payload, configuration: configuration) { delivery in
                // The service also converts in the handler, while the session still retains the content.
                let content = delivery.content.systemContent
                let isWhole = delivery.isRestored && delivery.failure == nil
                continuation.resume(returning: (isWhole, content.userInfo.count))
            }.start()
        }
    }
}

/// Reads the file NAME of the folder for `https://files.example/NAME`, in pieces like those of a network.
private struct FolderTransport: HTTPTransport {
    let folder: URL

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        let name = address.replacing("https://files.example/", with: "")
        let file = try FileHandle(forReadingFrom: folder.appendingPathComponent(name))
        while let piece = try file.read(upToCount: 16_384), !piece.isEmpty { try receive(Array(piece)) }
    }

    func post(_ post: HTTPPost) async throws {
        throw TransferError(.network, "no network")
    }
}
