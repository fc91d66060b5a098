import PushCryptCore

/// A push to show, with the results of the stages so far: opened and verified, or accepted unsealed.
struct RestoredPush: Sendable {
    /// nil for a push that wasn't sealed, whose content isn't authenticated.
    var push: OpenedPush?
    var content: NotificationContent
    /// Whether the push was shown before.
    var isReplay = false
    /// The right to show the push; nil if nothing remembers it.
    var claim: MessageClaim?
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
            content: content, isRestored: push != nil, failure: failure, stageFailures: stageFailures)
    }

    private var failure: FailureClass? {
        guard push != nil else { return nil }
        if isReplay { return .replayed }
        return isIncomplete || content.missingAttachmentCount > 0 ? .attachmentFailed : nil
    }
}

extension ExtensionConfiguration {
    /// Opens and verifies the push, checks its freshness and claims the message, unless the session has ended: then the
    /// message isn't shown.
    ///
    /// - Parameter memory: called before each call of the store.
    func restore(
        _ payload: [UInt8], at time: UnixTime, unless hasEnded: () -> Bool, memory: () -> (any DeliveryMemory)?
    ) -> Result<RestoredPush, FailureClass> {
        let opened = opener.untimed(
            payload, at: time, highestIssuedAt: { memory().flatMap { try? $0.highestIssuedAt(at: time) } })
        let result = opened.flatMap { push in
            let content = content(of: push)
            let memory = memory()
            return hasEnded() ? .failure(.timedOut) : claimed(push, content, at: time, in: memory)
        }
        return result.flatMapError { acceptedUnsealed(payload, $0) }
    }

    private func claimed(
        _ push: OpenedPush, _ content: NotificationContent, at time: UnixTime, in memory: (any DeliveryMemory)?
    ) -> Result<RestoredPush, FailureClass> {
        switch claim(push, at: time, in: memory) {
        case .success(let claim):
            let isIncomplete = push.offload != nil && offload == nil || !push.attachments.isEmpty && attachments == nil
            return .success(RestoredPush(push: push, content: content, claim: claim, isIncomplete: isIncomplete))
        case .failure(.replayed) where replays == .passive:
            var passive = content
            passive.sound = nil
            passive.interruptionLevel = "passive"
            return .success(RestoredPush(push: push, content: passive, isReplay: true))
        case .failure(let failure): return .failure(failure)
        }
    }

    /// - Returns: nil for a message that may be shown although nothing remembers it: a failing store must not prevent
    ///   messages from being read.
    private func claim(
        _ push: OpenedPush, at time: UnixTime, in memory: (any DeliveryMemory)?
    ) -> Result<MessageClaim?, FailureClass> {
        let answer = try? memory?.claim(
            push.messageID, issuedAt: push.issuedAt, expiresAt: push.expiresAt, at: time)
        if let answer { return answer.map(Optional.some) }
        let failure = Freshness.failure(
            issuedAt: push.issuedAt, expiresAt: push.expiresAt, clock: time, highestIssuedAt: nil)
        return failure.map { .failure($0) } ?? .success(nil)
    }

    /// Checks the payload itself, because a custom keyring could throw `notSealed` for any payload.
    private func acceptedUnsealed(_ payload: [UInt8], _ failure: FailureClass) -> Result<RestoredPush, FailureClass> {
        guard failure == .notSealed, unsealed.isShown, let root = (try? JSONText(payload))?.root,
            root.kind == .object, root["pushcrypt"] == nil, let content = NotificationContent(unmodified: payload)
        else { return .failure(failure) }
        return .success(RestoredPush(content: localized(content)))
    }
}

/// One step between the opening of a push and the handler.
enum DeliveryStep: Sendable {
    case stage(SessionStage)
    case receipt
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
    func steps(for restored: RestoredPush, showing preview: NotificationPreview) -> [DeliveryStep] {
        guard let push = restored.push else {
            return unsealed.stages.map { stage in
                .stage(
                    SessionStage(name: stage.name, timeLimit: stage.timeLimit, fetches: false) { push in
                        var next = push
                        next.content = localized(try await stage.process(unsealed: push.content))
                        return next
                    })
            }
        }
        guard !restored.isReplay else { return [] }
        // The content can't be shown: nothing is fetched, and no stage runs.
        guard restored.content.hasText || push.offload != nil else { return receipts == nil ? [] : [.receipt] }
        var steps = [DeliveryStep]()
        if let reference = push.offload, let offload { steps.append(.stage(fetching(reference, with: offload))) }
        let showsEverything = preview == .everything
        if let attachments, showsEverything { steps.append(.stage(running(attachments, fetches: true))) }
        if receipts != nil { steps.append(.receipt) }
        steps += stages.map { .stage(running($0)) }
        if let finish, showsEverything { steps.append(.stage(running(finish))) }
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

    private func fetching(_ reference: OffloadReference, with fetcher: OffloadFetcher) -> SessionStage {
        SessionStage(name: "offload", timeLimit: offloadTimeLimit, fetches: true) { [self] restored in
            guard let push = try await restored.push?.replacing(offloaded: fetcher.payload(reference)) else {
                return restored
            }
            var next = restored
            next.push = push
            next.content = content(of: push)
            return next
        }
    }
}
