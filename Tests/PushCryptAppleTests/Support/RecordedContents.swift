import PushCryptPrimitives
import PushCryptTestSupport
import UserNotifications

/// Records the contents with which a push's handler is called.
final class RecordedContents: Sendable {
    // Unchecked: the content isn't changed after it was handed over.
    private struct Content: @unchecked Sendable {
        let value: UNNotificationContent
    }

    private let contents = Locked<[Content]>([])
    private let first = Signal()

    /// How often the handler was called.
    var count: Int { contents.withLock { $0.count } }

    func handle(_ content: UNNotificationContent) {
        let content = Content(value: content)
        contents.withLock { $0.append(content) }
        first.give()
    }

    /// Waits for the first call.
    func content() async -> UNNotificationContent {
        await first.wait()
        return contents.withLock { $0[0] }.value
    }
}

/// Gives a signal when it is released.
final class Witness: Sendable {
    private let gone: Signal

    init(gone: Signal) {
        self.gone = gone
    }

    deinit {
        gone.give()
    }
}
