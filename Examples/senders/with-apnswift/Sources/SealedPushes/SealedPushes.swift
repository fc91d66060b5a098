import APNS
import APNSCore
import Foundation
import NIOCore
import NIOPosix
import PushCryptSender

/// Seals the notifications of APNSwift, and sends them with its client.
struct SealedPushes {
    let sealer: Sealer
    let client: APNSClient<JSONDecoder, SealedPushEncoder>

    /// - Parameter configuration: of APNSwift's client: the team's key and APNs' server.
    init(sealer: Sealer, configuration: APNSClientConfiguration) {
        self.sealer = sealer
        client = APNSClient(
            configuration: configuration, eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            responseDecoder: JSONDecoder(), requestEncoder: SealedPushEncoder())
    }

    /// - Parameters:
    ///   - notification: as without encryption. Its texts, its payload and its other members are sealed.
    ///   - registration: the registration record that the app has uploaded.
    func send<Payload>(
        _ notification: APNSAlertNotification<Payload>, to registration: Data, deviceToken: String
    ) async throws -> APNSResponse {
        let registration = try Registration(json: registration, requiring: [.psk, .asymmetric])
        let push = try sealer.seal(notification, to: Recipient(registration))
        return try await client.send(
            APNSRequest(
                message: SealedMessage(push: push), deviceToken: deviceToken, pushType: .alert,
                expiration: .timeIntervalSince1970InSeconds(Int(push.expiresAt.seconds)),
                priority: notification.priority, apnsID: notification.apnsID, topic: notification.topic,
                collapseID: nil))
    }
}

/// A sealed push as a message of APNSwift.
struct SealedMessage: APNSMessage {
    let push: SealedPush

    func encode(to encoder: any Encoder) throws {
        let context = EncodingError.Context(
            codingPath: [], debugDescription: "only SealedPushEncoder writes sealed pushes")
        throw EncodingError.invalidValue(push, context)
    }
}

/// Writes the bytes of a sealed push unchanged: they are JSON already.
struct SealedPushEncoder: APNSJSONEncoder {
    func encode<Message: Encodable>(_ message: Message, into buffer: inout ByteBuffer) throws {
        guard let sealed = message as? SealedMessage else { return try JSONEncoder().encode(message, into: &buffer) }
        buffer.writeBytes(sealed.push.bytes)
    }
}
