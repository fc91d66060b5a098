import FlyingFox
import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSender
import PushCryptTestSupport
import Testing

#if os(Linux)

/// The memory of a process that fetches the largest file. The system kills an extension at about 24 MB.
@Suite(.enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsMemory)")) struct MemoryTests {
    /// The short form transfers less, but still more than the limit of memory.
    private static let byteCount = LongTests.value(50_000_000, short: 16_000_000)
    private static let attachmentByteCount = LongTests.value(20_000_000, short: 8_000_000)
    /// The memory in addition to the network library, which needs about 8 MiB in a debug build.
    private static let limitInKiB = 4 * 1024

    private static func growth(_ lines: [String]?) throws -> Int {
        let line = try #require(lines?.first { $0.hasPrefix("growth ") })
        return try #require(Int(line.dropFirst("growth ".count)))
    }

    @Test("a long body is received in constant memory", arguments: [0, LongTests.value(3, short: 1)])
    func stream(rounds: Int) async throws {
        let body = Data(count: Self.byteCount)
        try await WebServer.serving { request in
            HTTPResponse(statusCode: .ok, body: request.path == "/small" ? Data([1]) : body)
        } _: { server in
            let arguments = ["receive", server.address("small"), server.address("a"), "\(rounds)"]
            let lines = try await ExtensionCommand.outputFromThread(arguments)
            #expect(lines?.first == "bytes \(Self.byteCount)")
            let growth = try Self.growth(lines)
            #expect(growth < Self.limitInKiB)
        }
    }

    @Test("receipts to a server that streams endless responses are sent in constant memory")
    func receipts() async throws {
        let folder = try TemporaryFolder()
        // In the short form each response is longer than the limit of memory, too.
        let limit = LongTests.value(Int.max, short: Self.byteCount)
        let server = try FloodServer(head: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", limit: limit)
        let arguments = ["flush", folder.path + "/store", server.address, "10"]
        let lines = try await ExtensionCommand.outputFromThread(arguments)
        withExtendedLifetime(server) {}
        #expect(lines?.prefix(2) == ["sent 10", "left 0"])
        let growth = try Self.growth(lines)
        // This growth includes the network library.
        #expect(growth < 3 * Self.limitInKiB)
    }

    @Test("a large attachment is fetched in constant memory")
    func attachment() async throws {
        let folder = try TemporaryFolder()
        let head = [UInt8](hex: "0000002066747970 69736F6D00000200")
        let file = try TestFile(head + [UInt8](repeating: 7, count: Self.attachmentByteCount), type: "video/mp4")
        try StagePush.jwk().write(to: folder.file("jwk"))
        try StagePush.sealed(attachments: [file.reference]).write(to: folder.file("payload"))
        let blob = Data(file.blob)
        try await WebServer.serving { request in
            HTTPResponse(statusCode: .ok, body: request.path == "/small" ? Data([1]) : blob)
        } _: { server in
            let arguments = [
                "attach", folder.file("jwk").path, folder.file("payload").path, StagePush.topic,
                "\(StagePush.now.seconds)", server.address(""), folder.path + "/attachments",
            ]
            let lines = try await ExtensionCommand.outputFromThread(arguments)
            #expect(lines?.prefix(2) == ["attached 1", "missing 0"])
            let growth = try Self.growth(lines)
            #expect(growth < Self.limitInKiB)
        }
        #expect(try folder.names(in: "attachments").count == 1)
    }
}

#endif
