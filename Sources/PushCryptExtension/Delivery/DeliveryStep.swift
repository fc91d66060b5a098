import PushCryptCore

/// One step of what happens to a restored push, in order.
enum DeliveryStep: Sendable {
    case stage(InnerStage)
    case receipt
}

/// A stage in the form in which the session runs it.
struct InnerStage: Sendable {
    let name: String
    let timeLimit: Duration?
    /// Whether it fetches what the push names: its failure is the push's `attachmentFailed`.
    let fetches: Bool
    let run: @Sendable (RestoredPush) async throws -> RestoredPush
}

extension ExtensionConfiguration {
    func steps(for restored: RestoredPush) -> [DeliveryStep] {
        guard let push = restored.push else { return unsealedSteps }
        guard !restored.isReplay else { return [] }
        // Nothing of it can be shown: nothing is fetched for it, and no stage sees it.
        guard restored.content.hasText || push.offload != nil else { return receipts == nil ? [] : [.receipt] }
        var steps = [DeliveryStep]()
        if let reference = push.offload, let offload { steps.append(.stage(fetching(reference, with: offload))) }
        if let attachments { steps.append(.stage(running(attachments, fetches: true))) }
        if receipts != nil { steps.append(.receipt) }
        return steps + stages.map { .stage(running($0)) }
    }

    private func running(_ stage: any ContentStage, fetches: Bool = false) -> InnerStage {
        InnerStage(name: stage.name, timeLimit: stage.timeLimit, fetches: fetches) { restored in
            guard let push = restored.push else { return restored }
            var next = restored
            next.content = localized(try await stage.process(restored.content, of: push))
            return next
        }
    }

    private func fetching(_ reference: OffloadReference, with fetcher: OffloadFetcher) -> InnerStage {
        InnerStage(name: "offload", timeLimit: offloadTimeLimit, fetches: true) { [self] restored in
            guard let push = try await restored.push?.replacing(offloaded: fetcher.payload(reference)) else {
                return restored
            }
            var next = restored
            next.push = push
            next.content = content(of: push)
            return next
        }
    }

    private var unsealedSteps: [DeliveryStep] {
        unsealed.stages.map { stage in
            .stage(
                InnerStage(name: stage.name, timeLimit: stage.timeLimit, fetches: false) { push in
                    var next = push
                    next.content = try await stage.process(unsealed: push.content)
                    return next
                })
        }
    }
}
