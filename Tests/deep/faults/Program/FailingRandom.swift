import CPushCryptOpenSSL

/// OpenSSL's random source, of which chosen calls fail. For one thread.
enum FailingRandom {
    private struct State {
        var plan = FaultPlan.none
        var count = 0
        var failures = 0
    }

    private nonisolated(unsafe) static let state: UnsafeMutablePointer<State> = {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State())
        return unsafe state
    }()

    private nonisolated(unsafe) static let method: UnsafeMutablePointer<RAND_METHOD> = {
        let method = UnsafeMutablePointer<RAND_METHOD>.allocate(capacity: 1)
        let bytes: @convention(c) (UnsafeMutablePointer<UInt8>?, Int32) -> Int32 = { bytes, count in
            unsafe FailingRandom.fill(bytes, count)
        }
        unsafe method.initialize(
            to: RAND_METHOD(seed: nil, bytes: bytes, cleanup: nil, add: nil, pseudorand: bytes, status: { 1 }))
        return unsafe method
    }()

    static func install() {
        _ = unsafe state
        precondition(unsafe RAND_set_rand_method(method) == 1, "OpenSSL refused the random source")
    }

    /// Begins to count from zero.
    static func plan(_ plan: FaultPlan) { unsafe state.pointee = State(plan: plan) }

    static var hasFailed: Bool { unsafe state.pointee.failures > 0 }

    private static func fill(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> Int32 {
        unsafe state.pointee.count += 1
        if unsafe state.pointee.plan.fails(state.pointee.count) {
            unsafe state.pointee.failures += 1
            return 0
        }
        var system = SystemRandomNumberGenerator()
        for index in 0..<Int(count) { unsafe bytes?[index] = system.next() }
        return 1
    }
}
