public import PushCryptCore

extension Opener {
    /// Opens a payload that the app received itself, for example a push with `content-available`, and claims its message, so
    /// that it is opened once. The extension's store has claims of its own: a push that reaches both is opened by each.
    ///
    /// The message counts as seen when this function returns: if the process ends before the app has used the push, it isn't
    /// opened again.
    ///
    /// - Parameter store: with the role ``SharedStore/Role/app``.
    /// - Returns: the push, or its failure: as for an extension, `replayed` if it was opened before, and `timedOut` if the
    ///   system is about to suspend the process.
    public func claiming(
        _ payload: [UInt8], in store: SharedStore, at time: UnixTime = .now
    ) -> Result<OpenedPush, FailureClass> {
        claiming(payload, in: store, at: time, .system)
    }

    func claiming(
        _ payload: [UInt8], in store: SharedStore, at time: UnixTime, _ keepRunning: ProcessActivity
    ) -> Result<OpenedPush, FailureClass> {
        guard let end = keepRunning() else { return .failure(.timedOut) }
        defer { end() }
        return untimed(payload, at: time) { try? store.highestIssuedAt(at: time) }.flatMap { push in
            let reserved = ReservedPush(push, nil, in: store, at: time)
            if let failure = reserved.answer(of: store, at: time).refusal { return .failure(failure) }
            _ = try? store.record(DeliveryRecord(claim: reserved.message.claim, isShown: true))
            if keyring.hasDayKeys { keyring.erase(after: push, at: time) }
            return .success(push)
        }
    }
}
