import PushCryptExtension
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

    /// Delivers a push.
    func receive(_ payload: [UInt8]) throws -> RecordedContents {
        let shown = RecordedContents()
        didReceive(try Channel.request(payload)) { shown.handle($0) }
        return shown
    }
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
