import PushCryptPrimitives
import PushCryptTestSupport
import UserNotifications

@testable import PushCryptApple

/// A service with its own cache, whose configuration the test makes.
class TestService: PushCryptNotificationService {
    var make: () throws -> ExtensionConfiguration = { throw Unset() }

    convenience init(_ make: @escaping () throws -> ExtensionConfiguration) {
        self.init()
        self.make = make
        cache = ConfigurationCache()
    }

    override func configure() throws -> ExtensionConfiguration { try make() }

    private struct Unset: Error {}
}

extension PushCryptNotificationService {
    func receive(_ request: UNNotificationRequest) -> RecordedContents {
        let shown = RecordedContents()
        didReceive(request) { shown.handle($0) }
        return shown
    }

    func receive(_ payload: [UInt8]) throws -> RecordedContents { receive(try Channel.request(payload)) }
}

/// A stage that blocks pushes with the title "stuck" until the test releases it.
struct StuckStage: ContentStage {
    let started = Signal()
    let release = Signal()

    func process(_ content: NotificationContent, of push: OpenedPush) async -> NotificationContent {
        guard content.title.literal == "stuck" else { return content }
        started.give()
        await release.wait()
        var late = content
        late.title.literal = "too late"
        return late
    }
}

/// Records the contents with which a push's handler is called.
final class RecordedContents: Sendable {
    // Unchecked: the content isn't changed after it was handed over.
    private struct Content: @unchecked Sendable {
        let value: UNNotificationContent
    }

    private let contents = Locked<[Content]>([])
    private let first = Signal()

    var count: Int { contents.withLock { $0.count } }

    func handle(_ content: UNNotificationContent) {
        let content = Content(value: content)
        contents.withLock { $0.append(content) }
        first.give()
    }

    func content() async -> UNNotificationContent {
        await first.wait()
        return contents.withLock { $0[0] }.value
    }
}

/// Records the failures of the reports of a push.
final class RecordedReports: DeliveryReporter {
    private let reported = Signal()
    private let recorded = Locked<[FailureClass?]>([])

    func report(_ report: DeliveryReport) {
        recorded.withLock { $0.append(report.failure) }
        reported.give()
    }

    func failures() async -> [FailureClass?] {
        await reported.wait()
        return recorded.withLock { $0 }
    }
}
