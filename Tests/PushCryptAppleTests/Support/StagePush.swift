import Foundation
import PushCryptApple
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport

/// Seals and opens pushes for tests of the attachment stage.
enum StagePush {
    static let json = #"{"aps":{"alert":"Hello"}}"#

    private struct File: Decodable {
        let keys: [String: [String: String]]
    }

    static let topic = "com.example.app"
    static let now = UnixTime(1_800_000_000)

    /// The recipient's key, a shared key.
    static func jwk() throws -> Data {
        let members = try Vectors.loadOwn("pushcrypt-v1.json", as: File.self).keys["shared"] ?? [:]
        return Data("{\(members.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ","))}".utf8)
    }

    static func sealed(
        _ json: String = json, attachments: [AttachmentReference] = [], offload: OffloadReference? = nil
    ) throws -> Data {
        try Sealer(topic: topic, clock: { now }).seal(
            Array(json.utf8), to: Recipient(jwk: jwk()), placeholder: .literal(title: "New message", body: nil),
            attachments: attachments, offload: offload
        ).json
    }

    static func opened(
        _ json: String = json, attachments: [AttachmentReference] = [], offload: OffloadReference? = nil
    ) throws -> OpenedPush {
        let payload = try sealed(json, attachments: attachments, offload: offload)
        let opener = try Opener(topic: topic, keyring: KeysetKeyring(Keyset(json: Array(jwk()))), senders: .unsigned)
        return try opener.open(Array(payload), at: now).get()
    }
}

/// Sends the requests of https references to a server on loopback, which has no certificate. All other behaviour is that of
/// the real transport.
struct LoopbackTransport: HTTPTransport {
    static let origin = "https://files.example/"

    let port: UInt16
    private let transport = URLSessionTransport.loopback(allowedHosts: ["127.0.0.1"])

    init(_ server: RawServer) {
        port = server.port
    }

    private func loopback(_ address: String) -> String {
        guard address.hasPrefix(Self.origin) else { return address }
        return "http://127.0.0.1:\(port)/" + address.dropFirst(Self.origin.count)
    }

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        try await transport.get(loopback(address), receive: receive)
    }

    func post(_ post: HTTPPost) async throws {
        try await transport.post(
            HTTPPost(post.body, contentType: post.contentType, to: loopback(post.address)))
    }
}
