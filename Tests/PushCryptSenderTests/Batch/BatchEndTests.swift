import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// A batch that ends early stops reading requests.
@Suite struct BatchEndTests {
    private struct Broken: Error {}

    /// A source without elements. It gives `isAsked` when a reader waits, and `hasEnded` when that reader is cancelled.
    private struct Silence {
        let isAsked = Signal()
        let hasEnded = Signal()

        var requests: AsyncStream<SealRequest<Int>> {
            AsyncStream { [isAsked, hasEnded] in
                isAsked.give()
                await hasEnded.wait()
                return nil
            } onCancel: { [hasEnded] in
                hasEnded.give()
            }
        }
    }

    @Test("cancelling a batch that waits for a request throws CancellationError") func cancelledWhileWaiting() async {
        let silence = Silence()
        let requests = silence.requests
        let reader = Task {
            for try await _ in BatchSealer(try Channel.simple.sealer()).seal(requests) { Issue.record("an outcome") }
        }
        await silence.isAsked.wait()
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        await silence.hasEnded.wait()
    }

    /// A batch that ended without an error would look complete.
    @Test("cancelling a batch after ten of its outcomes throws CancellationError", arguments: [false, true])
    func cancelledInTheMiddle(isListed: Bool) async {
        let contexts = Locked<[Int]>([])
        let reader = Task {
            let requests = try Requests(Channel.simple, count: .max)
            let sealer = BatchSealer(try Channel.simple.sealer(), width: 1_000)
            for try await outcome in isListed ? sealer.seal(requests.listed) : sealer.seal(requests) {
                let count = contexts.withLock { contexts in
                    contexts.append(outcome.context)
                    return contexts.count
                }
                if count == 10 { unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(contexts.withLock { $0 } == Array(0..<10))
    }

    @Test("a task that was cancelled before its batch began throws CancellationError, and no request is read")
    func cancelledBefore() async throws {
        let requests = try Requests(Channel.simple, count: 3)
        let reader = Task {
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            for try await _ in BatchSealer(try Channel.simple.sealer()).seal(requests) { Issue.record("an outcome") }
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    @Test("releasing a batch's iterator cancels the reading of requests") func released() async throws {
        let (silence, sealer) = (Silence(), BatchSealer(try Channel.simple.sealer()))
        var iterator: SealedBatch<Int>.AsyncIterator? = sealer.seal(silence.requests).makeAsyncIterator()
        await silence.isAsked.wait()
        #expect(iterator != nil)
        iterator = nil
        await silence.hasEnded.wait()
    }

    @Test("a source's error is thrown after the outcomes of earlier requests", arguments: [1, 4, 100])
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
