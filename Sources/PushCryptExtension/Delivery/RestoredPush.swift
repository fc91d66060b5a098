/// A push that was opened and verified, with what the stages have made of it so far.
struct RestoredPush: Sendable {
    var push: OpenedPush
    var content: NotificationContent
    /// It was shown before.
    let isReplay: Bool
    private(set) var stageFailures: [StageFailure] = []
    private(set) var hasAttachmentFailure = false

    init(_ push: OpenedPush, content: NotificationContent, isReplay: Bool) {
        self.push = push
        self.content = content
        self.isReplay = isReplay
    }

    /// What a stage achieved, or what was there before it with its failure noted.
    func after(_ stage: InnerStage, _ result: Result<RestoredPush, StageFailure.Ending>) -> RestoredPush {
        switch result {
        case .success(let next):
            // The system shows the original in place of content without text.
            guard next.content.hasText else { return without(stage, .emptied) }
            return next
        case .failure(let ending): return without(stage, ending)
        }
    }

    private func without(_ stage: InnerStage, _ ending: StageFailure.Ending) -> RestoredPush {
        var unchanged = self
        unchanged.stageFailures.append(StageFailure(stage: stage.name, ending: ending))
        if stage.bringsAttachments { unchanged.hasAttachmentFailure = true }
        return unchanged
    }

    var delivery: DeliverySession.Delivery {
        DeliverySession.Delivery(
            content: content, isRestored: true,
            failure: isReplay ? .replayed : hasAttachmentFailure ? .attachmentFailed : nil,
            stageFailures: stageFailures)
    }
}
