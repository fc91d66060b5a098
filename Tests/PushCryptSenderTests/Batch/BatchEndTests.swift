import PushCryptSender
import PushCryptTestSupport
import Testing

/// A batch that ends before its time leaves nobody reading.
@Suite struct BatchEndTests {
    private struct Broken: Error {}

    /// A source that nothing comes from, and what is told when it was let go of.
    private static func silence() -> (stream: AsyncStream<SealRequest<Int>>, hasEnded: Signal) {
        let (stream, continuation) = AsyncStream.makeStream(of: SealRequest<Int>.self)
        let hasEnded = Signal()
        continuation.onTermination = { _ in hasEnded.give() }
        return (stream, hasEnded)
    }

    @Test func cancelledWhileWaiting() async throws {
        let (stream, hasEnded) = Self.silence()
        let sealer = BatchSealer(try Channel.simple.sealer())
        let reader = Task {
            for try await _ in sealer.seal(stream) { Issue.record("an outcome") }
        }
        reader.cancel()
        try await reader.value
        await hasEnded.wait()
    }

    @Test func cancelledInTheMiddle() async throws {
        let requests = try Requests(Channel.simple, count: .max)
        let sealer = BatchSealer(try Channel.simple.sealer(), width: 3)
        let reader = Task {
            var contexts: [Int] = []
            for try await outcome in sealer.seal(requests) {
                contexts.append(outcome.context)
                if contexts.count == 10 { unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() } }
            }
            return contexts
        }
        #expect(try await reader.value == Array(0..<10))
    }

    @Test func letGo() async throws {
        let (stream, hasEnded) = Self.silence()
        let sealer = BatchSealer(try Channel.simple.sealer())
        _ = sealer.seal(stream).makeAsyncIterator()
        await hasEnded.wait()
    }

    /// What came before the error comes out before it.
    @Test(arguments: [1, 4, 100])
    func brokenSource(width: Int) async throws {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: SealRequest<Int>.self)
        for number in 0..<20 { continuation.yield(try Requests.request(Channel.simple, number)) }
        continuation.finish(throwing: Broken())
        var contexts: [Int] = []
        await #expect(throws: Broken.self) {
            for try await outcome in BatchSealer(try Channel.simple.sealer(), width: width).seal(stream) {
                contexts.append(outcome.context)
            }
        }
        #expect(contexts == Array(0..<20))
    }
}
