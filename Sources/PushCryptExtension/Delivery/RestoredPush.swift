import PushCryptCore

/// A push that is no failure, with what the stages have made of it so far: opened and verified, or let through unsealed.
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

    /// What a stage achieved, or what was there before it with its failure noted.
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
