extension DeadlineTimer {
    /// Runs work in a task that is cancelled when its time is up, or when the caller is cancelled. It returns when the work
    /// ends, which is to end at once then.
    ///
    /// - Throws: what the work throws.
    func limit<Value: Sendable>(
        _ duration: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task(operation: work)
        let giveUp = schedule(after: duration) { task.cancel() }
        defer { giveUp() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
