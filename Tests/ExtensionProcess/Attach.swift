import PushCryptApple
import PushCryptExtension

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `attach JWK PAYLOAD TOPIC AT ORIGIN FOLDER`: opens a push, fetches its attachments, those of https://files.example/
/// from ORIGIN, and prints `attached COUNT`, `missing COUNT` and `growth KIB`: over what the process takes when the
/// network library is there.
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

/// A server on loopback has no certificate.
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

    func post(_ body: [UInt8], contentType: String, to address: String) async throws {
        try await transport.post(body, contentType: contentType, to: address)
    }
}
