/// Wakes a dispatcher when a message was accepted, when an attempt has ended, and at regular intervals.
public final class WakeUps: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    /// Creates wake-ups for one dispatcher.
    public init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Wakes the dispatcher. Several calls wake it once if it hasn't run in between.
    public func signal() { continuation.yield() }

    /// Returns at the next signal.
    func next() async {
        var iterator = stream.makeAsyncIterator()
        _ = await iterator.next()
    }
}
