import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import PushCryptURLSession

/// A push that was sealed and opened.
enum StagePush {
    static let json = #"{"aps":{"alert":"Hello"}}"#

    private struct File: Decodable {
        let keys: [String: [String: String]]
    }

    static func opened(
        _ json: String = json, attachments: [AttachmentReference] = [], offload: OffloadReference? = nil
    ) throws -> OpenedPush {
        let members = try Vectors.loadOwn("pushcrypt-v1.json", as: File.self).keys["shared"] ?? [:]
        let jwk = Array("{\(members.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ","))}".utf8)
        let now = UnixTime(1_800_000_000)
        let sealed = try Sealer(topic: "com.example.app", clock: { now }).seal(
            Array(json.utf8), to: Recipient(jwk: jwk), placeholder: .literal(title: "New message", body: nil),
            attachments: attachments, offload: offload)
        let opener = try Opener(topic: "com.example.app", keyring: KeysetKeyring(Keyset(json: jwk)))
        return try opener.open(Array(sealed.json), at: now).get()
    }
}

/// References are https only. Their requests go to a server on loopback, which has no certificate; everything else is
/// the real transport's.
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

    func post(_ body: [UInt8], contentType: String, to address: String) async throws {
        try await transport.post(body, contentType: contentType, to: loopback(address))
    }
}

/// A time limit that comes when the test says so.
final class HandTimer: DeadlineTimer {
    private let body = Locked<(@Sendable () -> Void)?>(nil)

    var isPending: Bool { body.withLock { $0 != nil } }

    func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        self.body.withLock { $0 = body }
        return { [self] in self.body.withLock { $0 = nil } }
    }

    func fire() {
        body.withLock { $0 }?()
    }
}
