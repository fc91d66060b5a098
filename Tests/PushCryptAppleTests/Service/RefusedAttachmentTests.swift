import Foundation
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

/// An attachment that the system refuses, and what the service's log says about it.
@Suite struct RefusedAttachmentTests {
    private let place: TemporaryFolder
    private let channel: Channel

    init() throws {
        place = try TemporaryFolder()
        channel = try Channel()
    }

    /// Attaches a picture, and one that is longer than the system accepts.
    private struct Pictures: ContentStage {
        let place: TemporaryFolder
        let name = "pictures"

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = content
            for (name, byteCount) in [("good.png", 100), ("long.png", 11 << 20)] {
                try Data().write(to: place.file(name))
                let file = try FileHandle(forWritingTo: place.file(name))
                try file.truncate(atOffset: UInt64(byteCount))
                try file.close()
                content.attachments.append(.init(identifier: name, path: place.file(name).path, type: .png))
            }
            return content
        }
    }

    private final class Reports: DeliveryReporter {
        let reported = Signal()
        let failures = Locked<[FailureClass?]>([])

        func report(_ report: DeliveryReport) {
            failures.withLock { $0.append(report.failure) }
            reported.give()
        }
    }

    private final class LoggingService: PushCryptNotificationService {
        let lines = Locked<[String]>([])
        var make: () throws -> ExtensionConfiguration = { throw CancellationError() }

        override var log: (any DeliveryReporter)? {
            DeliveryLog { [lines] line in lines.withLock { $0.append(line) } }
        }

        override func configure() throws -> ExtensionConfiguration { try make() }
    }

    @Test("an attachment that the system refuses is reported as attachmentFailed, and its file is removed")
    func refused() async throws {
        let counted = Reports()
        let service = LoggingService()
        service.cache = ConfigurationCache()
        service.make = { [channel, place] in
            var configuration = try channel.configuration()
            configuration.attachments = Pictures(place: place)
            configuration.diagnostics = counted
            return configuration
        }
        let shown = RecordedContents()
        service.didReceive(try Channel.request(channel.seal(#"{"aps":{"alert":"secret text"}}"#))) { shown.handle($0) }
        let content = await shown.content()
        #expect(content.body == "secret text")
        #expect(content.attachments.map(\.identifier) == ["good.png"])
        await counted.reported.wait()
        #expect(counted.failures.withLock { $0 } == [.attachmentFailed])
        #expect(FileManager.default.fileExists(atPath: place.file("good.png").path))
        #expect(!FileManager.default.fileExists(atPath: place.file("long.png").path))
        // The line is written after the other report.
        while service.lines.withLock({ $0.isEmpty }) { await Task.yield() }
        let lines = service.lines.withLock { $0 }
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.hasPrefix("attachmentFailed, text opened, in "))
        #expect(line.contains("pictures "))
        #expect(!line.contains("secret"))
    }
}
