#if DEBUG
package import PushCryptPrimitives
#endif

/// What reading JSON costs, for tests that hold hostile texts against it: one step for each byte of a token that is
/// scanned, compared, hashed or unescaped, and for each member that a lookup passes. Release builds count nothing.
package enum JSONSteps {
    #if DEBUG
    /// Counts the steps of the code that runs while it is the task's own.
    @TaskLocal package static var counter: Locked<Int>?
    #endif

    @inline(__always)
    static func add(_ count: @autoclosure () -> Int) {
        #if DEBUG
        guard let counter else { return }
        let count = count()
        counter.withLock { $0 += count }
        #endif
    }
}
