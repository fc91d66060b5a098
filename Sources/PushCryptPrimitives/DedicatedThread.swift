import Dispatch

/// Runs work on a thread that does nothing else, so that a full thread pool can't delay it.
package enum DedicatedThread {
    /// Starts a thread, as ``run(_:)`` does.
    package typealias Start = @Sendable (_ body: @escaping @Sendable () -> Void) -> Void

    /// Runs `body` on a new thread, or on a dispatch queue if the system can't create a thread.
    package static func run(_ body: @escaping @Sendable () -> Void) {
        #if DEBUG
        let body = ThreadObservation.observer?.thread(body) ?? body
        #endif
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        guard unsafe startDetached(work) else {
            unsafe Unmanaged<Work>.fromOpaque(work).release()
            DispatchQueue(label: "pushcrypt.work", qos: .userInitiated).async(execute: body)
            return
        }
    }

    /// Runs `body` on a new thread and returns its result, for calls that wait for files or keys.
    package static func value<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            run { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    private static func startDetached(_ work: UnsafeMutableRawPointer) -> Bool {
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let status = unsafe pthread_create(
            &thread, nil,
            { work in
                // Optional on some platforms only.
                guard let work = unsafe work as UnsafeMutableRawPointer? else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
                return nil
            }, work)
        guard status == 0 else { return false }
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

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
