import PushCryptExtension

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// `deliver JWK PAYLOAD TOPIC AT [kill]`: what a session hands over goes to stdout, a line with its title. With `kill` a stage
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
        let opener = try Opener(
            topic: arguments[2], keyring: KeysetKeyring(try Keyset(json: bytes[0])), senders: .unsigned)
        var configuration = DeliverySession.Configuration(fallback: .outerAlert(orElse: .standard))
        if arguments.last == "kill" { configuration.stages = [KillStage()] }
        let chosen = configuration
        let delivery = await withCheckedContinuation { continuation in
            DeliverySession(
                payload: bytes[1], opener: opener, configuration: chosen, clock: { time },
                handler: { continuation.resume(returning: $0) }
            ).start()
        }
        print(delivery.content.title.literal ?? "")
    }
}
