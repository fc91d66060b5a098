import PushCryptCore

/// The first stage: opens, verifies, checks freshness and claims the message.
struct Restorer {
    let payload: [UInt8]
    let opener: Opener
    let configuration: DeliverySession.Configuration
    let time: UnixTime

    /// - Parameter hasEnded: whether the session is over. Then the message isn't claimed: it isn't shown either.
    func restore(unless hasEnded: () -> Bool) -> Result<RestoredPush, FailureClass> {
        opener.untimed(payload, at: time).flatMap { push in
            let content = configuration.content(of: push)
            if hasEnded() { return .failure(.timedOut) }
            switch claim(push) {
            case .success(let claim):
                let isIncomplete = configuration.leavesOut(of: push)
                return .success(RestoredPush(push, content: content, claim: claim, isIncomplete: isIncomplete))
            case .failure(.replayed) where configuration.replays == .passive:
                return .success(RestoredPush(replay: push, content: content.passive))
            case .failure(let failure): return .failure(failure)
            }
        }
    }

    /// - Returns: nil for a message that may be shown and that nothing remembers: a store that fails must not keep messages
    ///   from being read.
    private func claim(_ push: OpenedPush) -> Result<MessageClaim?, FailureClass> {
        let answer = try? configuration.replayGuard?.claim(
            push.messageID, issuedAt: push.issuedAt, expiresAt: push.expiresAt, at: time)
        if let answer { return answer.map(Optional.some) }
        let failure = Freshness.failure(
            issuedAt: push.issuedAt, expiresAt: push.expiresAt, clock: time, highestIssuedAt: nil)
        return failure.map { .failure($0) } ?? .success(nil)
    }
}

extension NotificationContent {
    fileprivate var passive: NotificationContent {
        var content = self
        content.sound = nil
        content.interruptionLevel = "passive"
        return content
    }
}

extension DeliveryReport {
    init(_ delivery: DeliverySession.Delivery, of payload: [UInt8], _ push: OpenedPush?, at time: UnixTime) {
        self.init(
            failure: delivery.failure, isRestored: delivery.isRestored, time: time,
            kid: push?.kid ?? Opener.kid(of: payload),
            messageID: push?.messageID, pushID: push?.pushID, isSelfTest: push?.isSelfTest ?? false,
            stageFailures: delivery.stageFailures)
    }
}
