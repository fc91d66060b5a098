import PushCryptPrimitives
import PushCryptSender

/// A clock that only the test moves.
final class TestClock: Sendable {
    private let seconds: Locked<Int64>

    init(_ time: UnixTime) {
        seconds = Locked(time.seconds)
    }

    var now: UnixTime {
        get { UnixTime(seconds.withLock { $0 }) }
        set { seconds.withLock { $0 = newValue.seconds } }
    }
}
