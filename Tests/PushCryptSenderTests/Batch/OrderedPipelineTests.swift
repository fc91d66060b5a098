import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

@Suite("the ordered pipeline")
struct OrderedPipelineTests {
    private struct Broken: Error {}

    /// The numbers from 0 on; counts how far it was read.
    private struct Numbers: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let count: Int
        var failure: (any Error)?
        let read = Locked(0)

        func makeAsyncIterator() -> Numbers { self }

        func next() async throws -> Int? {
            let number = read.withLock { count in
                defer { count += 1 }
                return count
            }
            guard number >= count else { return number }
            if let failure { throw failure }
            return nil
        }
    }

    private static func lanes(
        _ count: Int, _ work: @escaping @Sendable (Int) -> Int = { $0 }
    ) -> [PipelineLane<Int, Int>] {
        (0..<count).map { _ in PipelineLane { work($0) } }
    }

    /// Inputs take very different times.
    @Test("results are in order and at most capacity inputs are read ahead", arguments: [1, 2, 3, 8], [1, 5, 18])
    func order(laneCount: Int, capacity: Int) async throws {
        let numbers = Numbers(count: 1_000)
        let lanes = Self.lanes(laneCount) { number in
            (0..<(number % 17 == 0 ? 4_000 : 10)).reduce(number) { $0 &+ $1 &- $1 }
        }
        let pipeline = OrderedPipeline(numbers, capacity: capacity, lanes: lanes)
        var taken: [Int] = []
        while let number = try await pipeline.next() {
            taken.append(number)
            #expect(numbers.read.withLock { $0 } <= taken.count + capacity)
        }
        #expect(taken == Array(0..<1_000))
    }

    @Test("each lane works on one input at a time, with state that no other lane sees", arguments: [1, 3])
    func lanes(laneCount: Int) async throws {
        let lanes = (0..<laneCount).map { _ in
            var seen: [Int] = []
            return PipelineLane<Int, [Int]> { number in
                seen.append(number)
                return seen
            }
        }
        let pipeline = OrderedPipeline(Numbers(count: 30), capacity: 10, lanes: lanes)
        // A lane may work on its inputs in another order than the results have, so its last state is the longest.
        var last: [Int: [Int]] = [:]
        while let seen = try await pipeline.next() {
            let first = try #require(seen.first)
            if seen.count > last[first, default: []].count { last[first] = seen }
        }
        #expect(last.count == laneCount)
        #expect(last.values.joined().sorted() == Array(0..<30))
    }

    @Test("an error of the inputs is thrown after the results of all earlier inputs", arguments: [1, 4, 100])
    func brokenInputs(capacity: Int) async throws {
        let pipeline = OrderedPipeline(Numbers(count: 50, failure: Broken()), capacity: capacity, lanes: Self.lanes(2))
        var taken: [Int] = []
        await #expect(throws: Broken.self) {
            while let number = try await pipeline.next() { taken.append(number) }
        }
        #expect(taken == Array(0..<50))
    }

    @Test("waitForNext returns the same results and throws the same error as next")
    func blocking() async {
        let taken = await onThreadOfItsOwn {
            let pipeline = OrderedPipeline(Numbers(count: 50, failure: Broken()), capacity: 6, lanes: Self.lanes(2))
            var taken: [Int] = []
            #expect(throws: Broken.self) { while let number = try pipeline.waitForNext() { taken.append(number) } }
            return taken
        }
        #expect(taken == Array(0..<50))
    }

    private func onThreadOfItsOwn<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DedicatedThread.run { continuation.resume(returning: body()) }
        }
    }
}
