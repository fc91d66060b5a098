import Dispatch

/// Runs one piece of work on a thread of its own, so that a full thread pool can't delay it.
package enum OwnThread {
    /// - Returns: false when the system has no thread to give.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        guard unsafe startDetached(work) else {
            unsafe Unmanaged<Work>.fromOpaque(work).release()
            return false
        }
        return true
    }

    /// The same, with a thread of a pool where the system has no thread to give: the work is not lost.
    package static func startOrQueue(_ body: @escaping @Sendable () -> Void) {
        if !start(body) { DispatchQueue(label: "pushcrypt.work", qos: .userInitiated).async(execute: body) }
    }

    private static func startDetached(_ work: UnsafeMutableRawPointer) -> Bool {
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        guard unsafe pthread_create(&thread, nil, runWork, work) == 0 else { return false }
        #if canImport(Darwin)
        if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #else
        pthread_detach(thread)
        #endif
        return true
    }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

#if canImport(Darwin)
private func runWork(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
    return nil
}
#else
private func runWork(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work = unsafe work { unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
    return nil
}
#endif
