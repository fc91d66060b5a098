import Foundation
import Intents
import PushCryptPrimitives
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

/// The picture of a message's sender.
@Suite struct AvatarTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/avatars" }
    init() throws { folder = try TemporaryFolder() }

    private static let host = "files.example"
    private static let png = [UInt8](hex: "89504E470D0A1A0A0000000D49484452") + [UInt8](repeating: 7, count: 500)

    private static func avatar(_ path: String = "a", _ plaintext: [UInt8] = png) throws -> TestFile {
        try TestFile(plaintext, path: path, use: .avatar)
    }

    private func fetcher(_ server: RawServer, hosts: Set<String> = [host]) -> AvatarFetcher {
        AvatarFetcher(folder: path, hosts: hosts, transport: LoopbackTransport(server))
    }

    @Test func `a picture is fetched once, opened, and kept for later pushes`() async throws {
        let file = try Self.avatar()
        try await RawServer.serving([.body(file.blob)]) { server in
            let fetcher = fetcher(server)
            let pictures = [try await fetcher.picture(file.reference), try await fetcher.picture(file.reference)]
            #expect(pictures == [Self.png, Self.png])
            #expect(server.requests.count == 1)
        }
        #expect(try folder.names(in: "avatars").count == 1)
    }

    @Test(
        "a kept picture isn't given to a reference with another key, size, digest, type or host",
        arguments: [
            ("key", TransferError.Code.damaged), ("size", .damaged), ("sha256", .damaged), ("type", .wrongType),
            ("host", .addressRefused),
        ])
    func otherReference(_ member: String, code: TransferError.Code) async throws {
        let file = try Self.avatar()
        var text = String(decoding: file.reference.json, as: UTF8.self)
        let other = Base64URL.encode([UInt8](repeating: 9, count: 32))
        let changes = [
            "key": (Base64URL.encode(Array(file.reference.blob.key.bytes)), other),
            "size": ("\"size\":\(file.reference.blob.size)", "\"size\":\(file.reference.blob.size - 1)"),
            "sha256": (Base64URL.encode(file.reference.blob.sha256), other),
            "type": (file.reference.type, "image/jpeg"), "host": (Self.host, "other.example"),
        ]
        let (old, new) = try #require(changes[member])
        text = text.replacing(old, with: new)
        let changed = try AttachmentReference(json: Array(text.utf8))
        #expect(changed != file.reference)
        try await RawServer.serving([.body(file.blob), .body(file.blob)]) { server in
            let fetcher = fetcher(server)
            _ = try await fetcher.picture(file.reference)
            await expectFailure(code) { _ = try await fetcher.picture(changed) }
            #expect(try await fetcher.picture(file.reference) == Self.png)
            #expect(server.requests.count == (member == "host" ? 1 : 2))
        }
    }

    @Test(
        "a picture over 1 MiB, or on a host that the app doesn't list, is refused without a request",
        arguments: [([], 0, .addressRefused), (["other.example"], 0, .addressRefused), ([host], 1 << 20, .tooLarge)]
            as [(Set<String>, Int, TransferError.Code)])
    func notAskedFor(_ hosts: Set<String>, _ addedByteCount: Int, _ code: TransferError.Code) async throws {
        let file = try Self.avatar("a", Self.png + [UInt8](repeating: 0, count: addedByteCount))
        try await RawServer.serving([]) { server in
            await expectFailure(code) { _ = try await fetcher(server, hosts: hosts).picture(file.reference) }
            #expect(server.requests.isEmpty)
        }
    }

    @Test("a file that is no image, and a changed blob, are refused and not kept", arguments: [false, true])
    func refused(_ isChanged: Bool) async throws {
        let html = Array("<!DOCTYPE html><p>a page, no picture</p>".utf8)
        let file = try Self.avatar("a", isChanged ? Self.png : html)
        let blob = isChanged ? file.blob.flipping(bit: file.blob.bitCount - 1) : file.blob
        try await RawServer.serving([.body(blob)]) { server in
            await expectFailure(isChanged ? .damaged : .wrongType) {
                _ = try await fetcher(server).picture(file.reference)
            }
        }
        #expect((try? folder.names(in: "avatars")) ?? [] == [])
    }

    @Test func `at most 64 pictures are kept, the newest among them`() async throws {
        let file = try Self.avatar()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for number in 0..<70 { try Data([1]).write(to: folder.file("avatars/\(number)")) }
        try await RawServer.serving([.body(file.blob)]) { server in
            _ = try await fetcher(server).picture(file.reference)
            #expect(try folder.names(in: "avatars").count == AvatarFetcher.maximumCount)
            #expect(try await fetcher(server).picture(file.reference) == Self.png)
        }
    }

    private struct Seeing: FinalStage {
        let picture: Locked<[UInt8]?>

        func finish(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            picture.withLock { $0 = push.avatarPicture }
            return content
        }
    }

    private func delivery(
        _ file: TestFile, from server: RawServer, _ change: (inout ExtensionConfiguration) throws -> Void
    ) async throws -> DeliverySession.Delivery {
        var configuration = try StagePush.channel.get().configuration()
        configuration.avatars = fetcher(server)
        try change(&configuration)
        let session = (payload: try StagePush.sealed(attachments: [file.reference]), configuration: configuration)
        return await withCheckedContinuation { continuation in
            DeliverySession(payload: session.payload, configuration: session.configuration) {
                continuation.resume(returning: $0)
            }.start()
        }
    }

    @Test func `the last stage gets the picture, and the notification doesn't have it as an attachment`() async throws {
        let file = try Self.avatar()
        let picture = Locked<[UInt8]?>(nil)
        try await RawServer.serving([.body(file.blob)]) { server in
            let delivery = try await delivery(file, from: server) { $0.finish = Seeing(picture: picture) }
            #expect(delivery.failure == nil && delivery.isRestored && delivery.content.attachments.isEmpty)
        }
        #expect(picture.withLock { $0 } == Self.png)
    }

    @Test func `without the picture the push is restored completely, and the stage avatar is reported`() async throws {
        let file = try Self.avatar()
        try await RawServer.serving([.notFound]) { server in
            let delivery = try await delivery(file, from: server) { _ in }
            #expect(delivery.failure == nil && delivery.isRestored)
            #expect(delivery.stageFailures == [StageFailure(stage: "avatar", ending: .failed)])
        }
    }

    @Test("nothing is fetched for a recipient who sees only titles, or without a fetcher", arguments: [false, true])
    func notFetched(_ hasFetcher: Bool) async throws {
        let file = try Self.avatar()
        let choice = PreviewChoice(path: folder.file("choice").path)
        try choice.set(.titleOnly)
        try await RawServer.serving([]) { server in
            let delivery = try await delivery(file, from: server) {
                if hasFetcher { $0.preview = choice } else { $0.avatars = nil }
            }
            #expect(delivery.failure == nil && delivery.stageFailures.isEmpty)
            #expect(server.requests.isEmpty)
        }
    }

    #if os(Linux)
    // Only the stubs let a test read the intent.
    @Test("a communication notification shows the picture, unless the app has one of its own", arguments: [nil, [1]])
    func communication(_ own: [UInt8]?) async throws {
        let file = try Self.avatar()
        try await RawServer.serving([.body(file.blob)]) { server in
            let delivery = try await delivery(file, from: server) {
                $0.finish = CommunicationStage { _ in
                    .init(sender: .init(handle: "zoe", name: "Zoë", picture: own), conversationID: "c")
                }
            }
            let intent = delivery.content.finalForm().system.stubProvider as? INSendMessageIntent
            #expect(intent?.sender?.image?.stubData == Data(own ?? Self.png))
        }
    }
    #endif
}
