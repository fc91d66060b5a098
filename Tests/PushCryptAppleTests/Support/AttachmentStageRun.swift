import Foundation
import PushCryptApple
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

final class AttachmentStageRun: Sendable {
    let timer = ManualTimer()
    let elapsed = Locked(Duration.zero)
    private let folder: TemporaryFolder
    private let plainMembers: [String]
    private let maximumCount: Int
    private let failures = Locked<[String]>([])

    init(plainMembers: [String] = [], maximumCount: Int = 8) throws {
        folder = try TemporaryFolder()
        self.plainMembers = plainMembers
        self.maximumCount = maximumCount
    }

    /// The missing attachments, each as `IDENTIFIER CODE`.
    var failed: [String] { failures.withLock { $0 } }
    func names() throws -> [String] { try folder.names() }

    /// Expects the push's content without its attachment, which is missing with this code and leaves no file.
    func expectMissing(
        _ failure: String, of push: OpenedPush, from server: RawServer, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        var expected = push.content
        expected.missingAttachmentCount = 1
        let content = try await process(push, from: server)
        #expect(content == expected && failed == [failure], "\(failed)", sourceLocation: location)
        #expect(try names().isEmpty, sourceLocation: location)
    }

    func process(_ push: OpenedPush, from server: RawServer) async throws -> NotificationContent {
        let configuration = AttachmentStage.Configuration(
            folder: folder.path, plainMembers: plainMembers, maximumCount: maximumCount)
        let start = ContinuousClock.now
        var stage = AttachmentStage(
            configuration: configuration, transport: LoopbackTransport(server), timer: timer,
            onFailure: { [failures] identifier, error in
                let code = (error as? TransferError)?.code.name ?? "\(error)"
                failures.withLock { $0.append("\(identifier) \(code)") }
            })
        stage.now = { [elapsed] in start + elapsed.withLock { $0 } }
        return try await stage.process(push.content, of: push)
    }
}

struct TestFile: Sendable {
    static let png = bytes("89504E470D0A1A0A0000000D49484452")
    static let jpeg = bytes("FFD8FFE000104A464946000101010048")
    static let html = bytes("3C21444F435459504520 68746D6C3E0A0A")

    let plaintext: [UInt8]
    let blob: [UInt8]
    let reference: AttachmentReference

    init(
        _ plaintext: [UInt8] = png, type: String = "image/png", id: String? = nil, path: String = "a",
        use: AttachmentReference.Use = .shown
    ) throws {
        let sealed = try SealedBlob(plaintext, for: .attachment)
        self.plaintext = plaintext
        blob = sealed.bytes
        reference = try AttachmentReference(
            url: LoopbackTransport.origin + path, blob: sealed.reference, type: type, id: id, use: use)
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        // The file is longer than several chunks of a blob.
        Array(hex: hex) + (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    }
}

/// Seals and opens pushes for tests of the attachment stage.
enum StagePush {
    static let json = #"{"aps":{"alert":"Hello"}}"#
    static let channel = Result { try Channel(.shared) }

    static func sealed(
        _ json: String = json, attachments: [AttachmentReference] = [], offload: OffloadReference? = nil
    ) throws -> [UInt8] {
        try channel.get().seal(json, attachments: attachments, offload: offload)
    }

    static func opened(
        _ json: String = json, attachments: [AttachmentReference] = [], offload: OffloadReference? = nil
    ) throws -> OpenedPush {
        let payload = try sealed(json, attachments: attachments, offload: offload)
        return try channel.get().opener.open(payload, at: Channel.now).get()
    }
}

/// Sends the requests of https references to a server on loopback, which has no certificate. All other behaviour is that of
/// the real transport.
struct LoopbackTransport: HTTPTransport {
    static let origin = "https://files.example/"

    let port: UInt16
    private let transport = URLSessionTransport.loopback(allowedHosts: ["127.0.0.1"])

    init(_ server: RawServer) { port = server.port }

    private func loopback(_ address: String) -> String {
        guard address.hasPrefix(Self.origin) else { return address }
        return "http://127.0.0.1:\(port)/" + address.dropFirst(Self.origin.count)
    }

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        try await transport.get(loopback(address), receive: receive)
    }

    func post(_ post: HTTPPost) async throws {
        try await transport.post(HTTPPost(post.body, contentType: post.contentType, to: loopback(post.address)))
    }
}
