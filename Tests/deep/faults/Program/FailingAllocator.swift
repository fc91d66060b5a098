import CPushCryptOpenSSL
import Glibc

/// OpenSSL's memory: counts the allocations, and makes chosen ones fail. For one thread.
enum FailingAllocator {
    /// The counts. OpenSSL calls plain functions, which find them here.
    private struct State {
        var plan = FaultPlan.none
        var count = 0
        var live = 0
        var failures = 0
        /// The address of the file's name and the line.
        var failed: (file: UInt, line: Int32) = (0, 0)
    }

    private nonisolated(unsafe) static let state: UnsafeMutablePointer<State> = {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State())
        return unsafe state
    }()

    /// Installs the allocator. OpenSSL accepts it only before its own first allocation.
    static func install() {
        _ = unsafe state
        let isInstalled = unsafe CRYPTO_set_mem_functions(
            { count, file, line in
                guard count > 0, unsafe FailingAllocator.admits(file, line) else { return nil }
                return unsafe FailingAllocator.counted(malloc(count))
            },
            { pointer, count, file, line in
                guard count > 0 else {
                    unsafe FailingAllocator.release(pointer)
                    return nil
                }
                guard unsafe FailingAllocator.admits(file, line) else { return nil }
                let moved = unsafe realloc(pointer, count)
                return unsafe pointer == nil ? FailingAllocator.counted(moved) : moved
            },
            { pointer, _, _ in unsafe FailingAllocator.release(pointer) })
        precondition(isInstalled == 1, "OpenSSL has allocated memory already")
    }

    /// Begins to count from zero.
    static func plan(_ plan: FaultPlan) {
        unsafe state.pointee.plan = plan
        unsafe state.pointee.count = 0
        unsafe state.pointee.failures = 0
    }

    /// The number of blocks that OpenSSL holds.
    static var live: Int { unsafe state.pointee.live }
    /// Whether an allocation has failed since the plan was made.
    static var hasFailed: Bool { unsafe state.pointee.failures > 0 }
    /// The place of the first failure in OpenSSL's sources, if OpenSSL was built with file names.
    static var place: String {
        let (file, line) = unsafe state.pointee.failed
        let name = unsafe UnsafePointer<CChar>(bitPattern: file).map { unsafe String(cString: $0) }
        return "\(name ?? "?"):\(line)"
    }

    private static func admits(_ file: UnsafePointer<CChar>?, _ line: Int32) -> Bool {
        unsafe state.pointee.count += 1
        guard unsafe state.pointee.plan.fails(state.pointee.count) else { return true }
        if unsafe state.pointee.failures == 0 { unsafe state.pointee.failed = (UInt(bitPattern: file), line) }
        unsafe state.pointee.failures += 1
        return false
    }

    private static func counted(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if unsafe pointer != nil { unsafe state.pointee.live += 1 }
        return unsafe pointer
    }

    private static func release(_ pointer: UnsafeMutableRawPointer?) {
        if unsafe pointer != nil { unsafe state.pointee.live -= 1 }
        unsafe free(pointer)
    }
}
