import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import pushcrypt

@Suite("the pipeline")
struct OrderedPipelineTests {
    private struct Broken: Error {}

    private static func pipeline(
        width: Int, count: Int, _ counts: Locked<(read: Int, written: Int, most: Int)>,
        work: @escaping @Sendable (Int) -> Int = { $0 }
    ) -> OrderedPipeline<Int, Int> {
        OrderedPipeline(width: width) {
            counts.withLock { counts in
                guard counts.read < count else { return nil }
                defer { counts.read += 1 }
                counts.most = max(counts.most, counts.read + 1 - counts.written)
                return counts.read
            }
        } makeWork: {
            { number in work(number) }
        }
    }

    /// Pieces take very different times, and few are between reading and writing at any time.
    @Test("keeps the order and its bound", arguments: [1, 2, 3, 8])
    func order(width: Int) throws {
        let counts = Locked((read: 0, written: 0, most: 0))
        let pipeline = Self.pipeline(width: width, count: 3_000, counts) { number in
            (0..<(number % 17 == 0 ? 20_000 : 10)).reduce(number) { $0 &+ $1 &- $1 }
        }
        var written: [Int] = []
        try pipeline.run { number in
            written.append(number)
            counts.withLock { $0.written += 1 }
        }
        #expect(written == Array(0..<3_000))
        #expect(counts.withLock(\.most) <= 2 * width + 2 + 1)
    }

    /// A writer that doesn't come on holds up the reader.
    @Test("waits for its writer", arguments: [1, 4])
    func backpressure(width: Int) throws {
        let counts = Locked((read: 0, written: 0, most: 0))
        let pipeline = Self.pipeline(width: width, count: 100, counts)
        var isFirst = true
        try pipeline.run { _ in
            // Until everything that may be read is.
            while isFirst, counts.withLock(\.read) < 2 * width + 2 {}
            isFirst = false
            #expect(counts.withLock { $0.read - $0.written } <= 2 * width + 2)
            counts.withLock { $0.written += 1 }
        }
        #expect(counts.withLock(\.written) == 100)
    }

    @Test("says of a broken reader when all before is written")
    func brokenReader() {
        let read = Locked(0)
        let pipeline = OrderedPipeline<Int, Int>(width: 2) {
            try read.withLock { count in
                guard count < 50 else { throw Broken() }
                defer { count += 1 }
                return count
            }
        } makeWork: {
            { $0 }
        }
        var written: [Int] = []
        #expect(throws: Broken.self) { try pipeline.run { written.append($0) } }
        #expect(written == Array(0..<50))
    }

    @Test("ends with its writer, and with work that can't begin")
    func brokenWriter() {
        let counts = Locked((read: 0, written: 0, most: 0))
        let endless = Self.pipeline(width: 2, count: .max, counts)
        #expect(throws: Broken.self) { try endless.run { if $0 == 10 { throw Broken() } } }
        let unable = OrderedPipeline<Int, Int>(width: 2) {
            1
        } makeWork: {
            throw Broken()
        }
        #expect(throws: Broken.self) { try unable.run { _ in } }
    }
}

@Suite("the progress of a batch")
struct BatchProgressTests {
    @Test(
        "in words",
        arguments: [
            (1_234_567, 453, 1_000, 4, "████▌       45%  1,234,567 lines  308,641/s  4s left"),
            (0, 0, 1_000, 1, "             0%  0 lines  0/s  0s left"),
            (10, 1_000, 1_000, 2, "██████████ 100%  10 lines  5/s  0s left"),
            (10, 2_000, 1_000, 2, "██████████ 100%  10 lines  5/s  0s left"),
            (1, 1, 1_000_000, 1, "▏            0%  1 lines  1/s  11d left"),
            (500, 99, nil, 2, "500 lines  250/s"), (500, 99, 0, 2, "500 lines  250/s"),
        ] as [(Int, Int, Int?, Int, String)])
    func words(_ lines: Int, _ position: Int, _ byteCount: Int?, _ seconds: Int, _ expected: String) {
        let words = BatchProgress.words(lines, position: position, of: byteCount, after: .seconds(seconds))
        #expect(words == expected)
    }
}
