/// An event that happens once and that tests await.
public struct Signal: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    public init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    public func give() {
        continuation.finish()
    }

    public func wait() async {
        for await _ in stream {}
    }
}
