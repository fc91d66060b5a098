import PushCryptCore

/// A push to show, with the results of the stages so far: opened and verified, or accepted unsealed.
struct RestoredPush: Sendable {
    /// nil for a push that wasn't sealed, whose content isn't authenticated.
    var push: OpenedPush?
    var content: NotificationContent
    /// Whether the push was shown before.
    var isReplay = false
    /// The message; nil for a push that wasn't sealed.
    var message: MessageStamp?
    /// The right to show the push; nil if nothing remembers it.
    var claim: MessageClaim?
    /// The badge of the content before the stages: the counted number for a message that changes it.
    var countedBadge: Int?
    /// Whether something that the push names is missing.
    var isIncomplete = false
    var stageFailures: [StageFailure] = []

    /// Returns the result of a stage, or the unchanged push with the stage's failure.
    func after(_ stage: SessionStage, _ result: Result<RestoredPush, StageFailure.Ending>) -> RestoredPush {
        let ending: StageFailure.Ending
        switch result {
        case .success(let next):
            if next.content.hasText { return next }
            // The system would show the original push in place of content without text.
            next.content.removeFiles(notIn: content)
            ending = .emptied
        case .failure(let failure): ending = failure
        }
        var unchanged = self
        unchanged.stageFailures.append(StageFailure(stage: stage.name, ending: ending))
        if stage.fetches { unchanged.isIncomplete = true }
        return unchanged
    }

    var delivery: DeliverySession.Delivery {
        DeliverySession.Delivery(
            content: content, isRestored: push != nil, failure: failure, stageFailures: stageFailures,
            messageID: push?.messageID)
    }

    private var failure: FailureClass? {
        guard push != nil else { return nil }
        if isReplay { return .replayed }
        return isIncomplete || content.missingAttachmentCount > 0 ? .attachmentFailed : nil
    }
}

/// A push that was opened and verified, and whose message this session alone may show in its process.
struct ReservedPush: Sendable {
    let push: OpenedPush
    let message: MessageStamp
    /// Whether another session of the process hasn't claimed the message.
    let isReserved: Bool

    init(
        _ push: OpenedPush, _ requestID: String?, in memory: (any DeliveryMemory)?, at time: UnixTime
    ) {
        self.push = push
        message = MessageStamp(push, requestID: requestID)
        isReserved = memory?.reserve(message, at: time) ?? true
    }

    /// The store's answer. A message is shown although nothing remembers it: a failing store must not prevent messages from
    /// being read.
    ///
    /// - Parameter memory: nil to check without the store's file.
    func answer(of memory: (any DeliveryMemory)?, at time: UnixTime) -> ClaimAnswer {
        if let memory, let answer = try? memory.claim(message, isReserved: isReserved, at: time) { return answer }
        guard isReserved else { return ClaimAnswer(refusal: .replayed) }
        return ClaimAnswer(
            refusal: Freshness.failure(
                issuedAt: push.issuedAt, expiresAt: push.expiresAt, clock: time, highestIssuedAt: nil))
    }
}

extension ExtensionConfiguration {
    /// The push to show, or the failure; see ``ReservedPush/answer(of:at:)``.
    func restored(_ reserved: ReservedPush, _ answer: ClaimAnswer) -> Result<RestoredPush, FailureClass> {
        let (push, message) = (reserved.push, reserved.message)
        var content = content(of: push)
        content.isSuppressed = push.isQuiet
        content.badge = answer.badge ?? content.badge
        switch answer.refusal {
        case nil:
            let isIncomplete = push.offload != nil && offload == nil || !push.attachments.isEmpty && attachments == nil
            return .success(
                RestoredPush(
                    push: push, content: content, message: message, claim: memory == nil ? nil : message.claim,
                    countedBadge: content.badge, isIncomplete: isIncomplete))
        case .replayed? where replays == .passive:
            // Its number may be an old one.
            content.badge = nil
            return .success(RestoredPush(push: push, content: content.passive, isReplay: true, message: message))
        case let failure?: return .failure(failure)
        }
    }

    /// The content of a push that wasn't sealed, if the app accepts such pushes; otherwise the failure.
    ///
    /// It checks the payload itself, because a custom keyring could throw `notSealed` for any payload.
    func acceptedUnsealed(_ payload: [UInt8], _ failure: FailureClass) -> Result<RestoredPush, FailureClass> {
        guard failure == .notSealed, unsealed.isShown, let root = (try? JSONText(payload))?.root,
            root.kind == .object, root["pushcrypt"] == nil, let content = NotificationContent(unmodified: payload)
        else { return .failure(failure) }
        return .success(RestoredPush(content: localized(content)))
    }
}

/// A stage that a session runs: the fetch of an offloaded payload, a ``ContentStage`` or an ``UnsealedStage``.
struct SessionStage: Sendable {
    let name: String
    let timeLimit: Duration?
    /// Whether the stage fetches data that the push names. If such a stage fails, the push is `attachmentFailed`.
    let fetches: Bool
    let run: @Sendable (RestoredPush) async throws -> RestoredPush
}

extension ExtensionConfiguration {
    func steps(for restored: RestoredPush, showing preview: NotificationPreview) -> [SessionStage] {
        guard let push = restored.push else {
            return unsealed.stages.map { stage in
                SessionStage(name: stage.name, timeLimit: stage.timeLimit, fetches: false) { push in
                    var next = push
                    next.content = localized(try await stage.process(unsealed: push.content))
                    return next
                }
            }
        }
        guard !restored.isReplay else { return [] }
        // The content can't be shown: nothing is fetched, and no stage runs.
        guard restored.content.hasText || push.offload != nil else { return [] }
        var steps = [SessionStage]()
        if let reference = push.offload, let offload { steps.append(fetching(reference, with: offload)) }
        let showsEverything = preview == .everything
        // A fetch for a message that isn't shown would tell the server where the device is.
        if let attachments, showsEverything, !push.isQuiet { steps.append(running(attachments, fetches: true)) }
        if let reference = push.avatar, let avatars, showsEverything {
            steps.append(fetching(reference, with: avatars))
        }
        steps += stages.map { running($0) }
        if let finish, showsEverything { steps.append(running(finish)) }
        return steps
    }

    private func running(_ stage: any FinalStage) -> SessionStage {
        SessionStage(name: stage.name, timeLimit: stage.timeLimit, fetches: false) { restored in
            guard let push = restored.push else { return restored }
            var next = restored
            next.content = localized(try await stage.finish(restored.content, of: push))
            return next
        }
    }

    private func running(_ stage: any ContentStage, fetches: Bool = false) -> SessionStage {
        SessionStage(name: stage.name, timeLimit: stage.timeLimit, fetches: fetches) { restored in
            guard let push = restored.push else { return restored }
            var next = restored
            next.content = localized(try await stage.process(restored.content, of: push))
            return next
        }
    }

    private func fetching(_ reference: AttachmentReference, with fetcher: AvatarFetcher) -> SessionStage {
        SessionStage(name: "avatar", timeLimit: avatarTimeLimit, fetches: false) { restored in
            var next = restored
            next.push?.avatarPicture = try await fetcher.picture(reference)
            return next
        }
    }

    private func fetching(_ reference: OffloadReference, with fetcher: OffloadFetcher) -> SessionStage {
        SessionStage(name: "offload", timeLimit: offloadTimeLimit, fetches: true) { [self] restored in
            guard let push = try await restored.push?.replacing(offloaded: fetcher.payload(reference)) else {
                return restored
            }
            var next = restored
            next.push = push
            next.content = content(of: push)
            // What the store has counted was in the message.
            if restored.message?.effects.badge != nil { next.content.badge = restored.countedBadge }
            return next
        }
    }
}
