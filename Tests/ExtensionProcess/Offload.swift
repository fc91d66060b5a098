import Foundation
import PushCryptApple
import PushCryptExtension
import UserNotifications

/// `offload JWK FOLDER TOPIC AT`: delivers `small.json` and then `large.json`, fetches the blobs `small` and `large` that they
/// name, and makes the system's content of each. Prints `restored COUNT`, `members COUNT` (of the large one's `userInfo`)
/// and `growth KIB`: by how much the peak of the resident memory lies above what the process took after the small one.
enum Offload {
    @Sendable static func run(_ arguments: [String]) async throws {
        let jwk = Array(try Data(contentsOf: URL(fileURLWithPath: arguments[0])))
        let folder = URL(fileURLWithPath: arguments[1], isDirectory: true)
        let opener = try Opener(topic: arguments[2], keyring: KeysetKeyring(try Keyset(json: jwk)), senders: .unsigned)
        let time = UnixTime(Int64(arguments[3]) ?? 0)
        var configuration = DeliverySession.Configuration(fallback: .outerAlert(orElse: .standard))
        configuration.offload = OffloadFetcher(transport: FolderTransport(folder: folder))
        var (restoredCount, memberCount, idle) = (0, 0, 0)
        for name in ["small", "large"] {
            idle = try ResidentMemory.now()
            let payload = Array(try Data(contentsOf: folder.appendingPathComponent(name + ".json")))
            let (isRestored, count) = await deliver(payload, opener, configuration, at: time)
            restoredCount += isRestored ? 1 : 0
            memberCount = count
        }
        print("restored \(restoredCount)")
        print("members \(memberCount)")
        print("growth \(try ResidentMemory.peak() - idle)")
    }

    private static func deliver(
        _ payload: [UInt8], _ opener: Opener, _ configuration: DeliverySession.Configuration, at time: UnixTime
    ) async -> (isRestored: Bool, memberCount: Int) {
        await withCheckedContinuation { continuation in
            DeliverySession(payload: payload, opener: opener, configuration: configuration, clock: { time }) {
                delivery in
                // As the service does in the handler, while the session still has what it made the content of.
                let content = delivery.content.systemContent
                let isWhole = delivery.isRestored && delivery.failure == nil
                continuation.resume(returning: (isWhole, content.userInfo.count))
            }.start()
        }
    }
}

/// `https://files.example/NAME` is a file of the folder, in pieces as a network brings them.
private struct FolderTransport: HTTPTransport {
    let folder: URL

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        let name = address.replacing("https://files.example/", with: "")
        let file = try FileHandle(forReadingFrom: folder.appendingPathComponent(name))
        while let piece = try file.read(upToCount: 16_384), !piece.isEmpty { try receive(Array(piece)) }
    }

    func post(_ body: [UInt8], contentType: String, to address: String) async throws {
        throw TransferError(.network, "no network")
    }
}
