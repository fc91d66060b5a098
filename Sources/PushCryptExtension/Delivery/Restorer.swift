import PushCryptCore

/// The first stage: opens, verifies, checks freshness and claims the message.
struct Restorer {
    let payload: [UInt8]
    let opener: Opener
    let configuration: DeliverySession.Configuration
    let time: UnixTime

    func restore() -> Result<RestoredPush, FailureClass> {
        // A store that fails must not keep messages from being read: it is as if there were none.
        let highest = (try? configuration.replayGuard?.highestIssuedAt()) ?? nil
        return opener.open(payload, at: time, highestIssuedAt: highest).flatMap { push in
            let content = configuration.content(of: push)
            guard isReplay(push) else {
                let isIncomplete = configuration.leavesOut(of: push)
                return .success(RestoredPush(push, content: content, isReplay: false, isIncomplete: isIncomplete))
            }
            guard configuration.replays == .passive else { return .failure(.replayed) }
            return .success(RestoredPush(push, content: content.passive, isReplay: true, isIncomplete: false))
        }
    }

    private func isReplay(_ push: OpenedPush) -> Bool {
        guard let replayGuard = configuration.replayGuard else { return false }
        let isGranted = try? replayGuard.claim(push.messageID, issuedAt: push.issuedAt, at: time)
        return isGranted == false
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
