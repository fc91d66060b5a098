import Dispatch
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The time limits of calls that wait for the store.
@Suite struct StoreQueueTests {
    private let folder: StoreFolder
    private let time = Locked(ContinuousClock.now)

    init() throws { folder = try StoreFolder() }

    private func queue(_ timeout: Duration) -> StoreQueue {
        StoreQueue(StoreFile(folder: folder.path), timeout: timeout) { [time] in time.withLock { $0 } }
    }

    private func pass(_ duration: Duration) { time.withLock { $0 += duration } }

    /// Returns how long a call may wait. The call throws an error with the code; it succeeds if the code is nil.
    private func limit(_ queue: StoreQueue, _ code: StoreError.Code? = nil) -> Duration {
        let limit = Locked(Duration.zero)
        try? queue.use { _, end throws(StoreError) in
            limit.withLock { $0 = end - .now }
            if let code { throw StoreError(code, "thrown by the test") }
        }
        return limit.withLock { $0 }
    }

    private func isLong(_ limit: Duration) -> Bool { limit > .seconds(30) }

    @Test("a call throws busy at its own time limit while another thread uses the file")
    func ownLimit() throws {
        let queue = queue(.milliseconds(20))
        let (begun, gate, ended) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        DispatchQueue(label: "first").async {
            try? queue.use { _, _ throws(StoreError) in
                begun.signal()
                gate.wait()
            }
            ended.signal()
        }
        begun.wait()
        for _ in 0..<3 {
            #expect(storeErrorCode { try queue.use { _, _ throws(StoreError) in } } == .busy)
        }
        gate.signal()
        ended.wait()
        #expect(storeErrorCode { try queue.use { _, _ throws(StoreError) in } } == nil)
    }

    @Test("after busy, calls wait at most 10 ms for 5 seconds, which later busy calls don't prolong")
    func pause() {
        let queue = queue(.seconds(60))
        #expect(isLong(limit(queue)))
        #expect(isLong(limit(queue, .busy)))
        #expect(limit(queue, .busy) <= .milliseconds(10))
        pass(.milliseconds(4_999))
        #expect(limit(queue, .busy) <= .milliseconds(10))
        pass(.milliseconds(1))
        #expect(isLong(limit(queue, .busy)))
        #expect(limit(queue, .busy) <= .milliseconds(10))
    }

    @Test("a successful call ends the pause, and a call that throws another error doesn't")
    func recovery() {
        let queue = queue(.seconds(60))
        _ = limit(queue, .busy)
        #expect(limit(queue, .full) <= .milliseconds(10))
        #expect(limit(queue) <= .milliseconds(10))
        #expect(isLong(limit(queue, .full)))
        #expect(isLong(limit(queue)))
    }

    @Test("a time limit is at most a minute and at least zero", arguments: [1, -1] as [Int64])
    func bounds(_ sign: Int64) {
        let limit = limit(queue(.seconds(sign * 10_000_000_000)))
        #expect(limit <= (sign > 0 ? .seconds(60) : .zero))
        #expect(isLong(limit) == (sign > 0))
    }
}
