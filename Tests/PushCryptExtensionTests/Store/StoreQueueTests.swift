import Dispatch
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// How long calls wait for the store.
@Suite struct StoreQueueTests {
    private let folder: StoreFolder
    private let time = Locked(ContinuousClock.now)

    init() throws {
        folder = try StoreFolder()
    }

    private func queue(_ timeout: Duration) -> StoreQueue {
        StoreQueue(StoreFile(folder: folder.path), timeout: timeout) { [time] in time.withLock { $0 } }
    }

    private func pass(_ duration: Duration) { time.withLock { $0 += duration } }

    /// How long a call may wait that ends with this error, or with none.
    private func limit(_ queue: StoreQueue, _ code: StoreError.Code? = nil) -> Duration {
        let limit = Locked(Duration.zero)
        try? queue.use { _, end throws(StoreError) in
            limit.withLock { $0 = end - .now }
            if let code { throw StoreError(code, "as the test wants it") }
        }
        return limit.withLock { $0 }
    }

    private func isLong(_ limit: Duration) -> Bool { limit > .seconds(30) }

    @Test("a call gives up when its own time is over, while another thread is still at its turn")
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

    @Test("after a busy store calls wait for 10 ms at most, for 5 seconds, which further busy calls don't prolong")
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

    @Test("a call that succeeds ends the pause, and one that fails otherwise doesn't")
    func recovery() {
        let queue = queue(.seconds(60))
        _ = limit(queue, .busy)
        #expect(limit(queue, .full) <= .milliseconds(10))
        #expect(limit(queue) <= .milliseconds(10))
        #expect(isLong(limit(queue, .full)))
        #expect(isLong(limit(queue)))
    }

    @Test("a limit beyond all bounds is a minute, and one below zero is none", arguments: [1, -1] as [Int64])
    func bounds(_ sign: Int64) {
        let limit = limit(queue(.seconds(sign * 10_000_000_000)))
        #expect(limit <= (sign > 0 ? .seconds(60) : .zero))
        #expect(isLong(limit) == (sign > 0))
    }
}
