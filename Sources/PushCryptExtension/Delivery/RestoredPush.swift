import PushCryptCore

/// A push that is no failure, with the result of the stages so far: opened and verified, or let through unsealed.
struct RestoredPush: Sendable {
    /// nil for a push that wasn't sealed: nothing of it is authenticated.
    var push: OpenedPush?
    var content: NotificationContent
    /// It was shown before.
    let isReplay: Bool
    /// The right to show it; nil where nothing remembers it.
    let claim: MessageClaim?
    private(set) var stageFailures: [StageFailure] = []
    /// Something that the push names isn't there.
    private var isIncomplete: Bool

    init(_ push: OpenedPush, content: NotificationContent, claim: MessageClaim?, isIncomplete: Bool) {
        self.push = push
        self.content = content
        self.claim = claim
        self.isIncomplete = isIncomplete
        isReplay = false
    }

    init(replay push: OpenedPush, content: NotificationContent) {
        self.push = push
        self.content = content
        claim = nil
        isIncomplete = false
        isReplay = true
    }

    init(unsealed content: NotificationContent) {
        push = nil
        self.content = content
        claim = nil
        isReplay = false
        isIncomplete = false
    }

    /// The result of a stage, or the push as it was before the stage with the failure noted.
    func after(_ stage: InnerStage, _ result: Result<RestoredPush, StageFailure.Ending>) -> RestoredPush {
        switch result {
        case .success(let next):
            // The system shows the original in place of content without text.
            guard next.content.hasText else {
                next.content.removeFiles(notIn: content)
                return without(stage, .emptied)
            }
            return next
        case .failure(let ending): return without(stage, ending)
        }
    }

    private func without(_ stage: InnerStage, _ ending: StageFailure.Ending) -> RestoredPush {
        var unchanged = self
        unchanged.stageFailures.append(StageFailure(stage: stage.name, ending: ending))
        if stage.fetches { unchanged.isIncomplete = true }
        return unchanged
    }

    var delivery: DeliverySession.Delivery {
        DeliverySession.Delivery(
            content: content, isRestored: push != nil, failure: failure, stageFailures: stageFailures)
    }

    private var failure: FailureClass? {
        guard push != nil else { return nil }
        if isReplay { return .replayed }
        return isIncomplete || content.missingAttachmentCount > 0 ? .attachmentFailed : nil
    }
}

extension ExtensionConfiguration {
    /// The first step of a session: opens, verifies, checks freshness and claims the message.
    ///
    /// - Parameters:
    ///   - payload: the outer payload.
    ///   - hasEnded: whether the session is over. Then the message isn't claimed: it isn't shown either.
    func restore(
        _ payload: [UInt8], at time: UnixTime, unless hasEnded: () -> Bool
    ) -> Result<RestoredPush, FailureClass> {
        let result = opener.untimed(payload, at: time).flatMap { push in
            let content = content(of: push)
            return hasEnded() ? .failure(.timedOut) : claimed(push, content, at: time)
        }
        return result.flatMapError { admitted(payload, $0) }
    }

    private func claimed(
        _ push: OpenedPush, _ content: NotificationContent, at time: UnixTime
    ) -> Result<RestoredPush, FailureClass> {
        switch claim(push, at: time) {
        case .success(let claim):
            return .success(RestoredPush(push, content: content, claim: claim, isIncomplete: leavesOut(of: push)))
        case .failure(.replayed) where replays == .passive:
            return .success(RestoredPush(replay: push, content: content.passive))
        case .failure(let failure): return .failure(failure)
        }
    }

    /// - Returns: nil for a message that may be shown and that nothing remembers: a store that fails must not keep messages
    ///   from being read.
    private func claim(_ push: OpenedPush, at time: UnixTime) -> Result<MessageClaim?, FailureClass> {
        let answer = try? replayGuard?.claim(
            push.messageID, issuedAt: push.issuedAt, expiresAt: push.expiresAt, at: time)
        if let answer { return answer.map(Optional.some) }
        let failure = Freshness.failure(
            issuedAt: push.issuedAt, expiresAt: push.expiresAt, clock: time, highestIssuedAt: nil)
        return failure.map { .failure($0) } ?? .success(nil)
    }

    /// Admits a push that wasn't sealed, if the app shows such pushes.
    ///
    /// The payload itself is checked: a keyring of the app's own could call any payload `notSealed`.
    private func admitted(_ payload: [UInt8], _ failure: FailureClass) -> Result<RestoredPush, FailureClass> {
        guard failure == .notSealed, unsealed.isShown, let root = (try? JSONText(payload))?.root,
            root.kind == .object, root["pushcrypt"] == nil, let content = NotificationContent(asItCame: payload)
        else { return .failure(failure) }
        return .success(RestoredPush(unsealed: content))
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
