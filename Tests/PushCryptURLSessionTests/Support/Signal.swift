/// Something that happens once, and that others wait for.
struct Signal: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func give() {
        continuation.finish()
    }

    /// - Returns: also when the task is cancelled.
    func wait() async {
        for await _ in stream {}
    }
}
