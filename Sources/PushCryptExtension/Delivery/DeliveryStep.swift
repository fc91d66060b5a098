import PushCryptCore

/// What happens to a restored push, in order.
enum DeliveryStep: Sendable {
    case stage(InnerStage)
    case receipt
}

/// A stage as the session runs it.
struct InnerStage: Sendable {
    let name: String
    let timeLimit: Duration?
    /// Whether it fetches what the push names: its failure is the push's `attachmentFailed`.
    let fetches: Bool
    let run: @Sendable (RestoredPush) async throws -> RestoredPush
}

extension InnerStage {
    init(_ stage: any ContentStage, fetches: Bool = false) {
        self.init(name: stage.name, timeLimit: stage.timeLimit, fetches: fetches) { restored in
            var next = restored
            next.content = try await stage.process(restored.content, of: restored.push)
            return next
        }
    }
}

extension DeliverySession.Configuration {
    func steps(for push: OpenedPush) -> [DeliveryStep] {
        var steps = [DeliveryStep]()
        if let reference = push.offload, let offload { steps.append(.stage(fetching(reference, with: offload))) }
        if let attachments { steps.append(.stage(InnerStage(attachments, fetches: true))) }
        if receipts != nil { steps.append(.receipt) }
        return steps + stages.map { .stage(InnerStage($0)) }
    }

    private func fetching(_ reference: OffloadReference, with fetcher: OffloadFetcher) -> InnerStage {
        InnerStage(name: "offload", timeLimit: offloadTimeLimit, fetches: true) { [self] restored in
            let json = try await fetcher.payload(reference)
            var next = restored
            next.push = try restored.push.replacing(offloaded: json)
            next.content = content(of: next.push)
            return next
        }
    }

    /// What the push says, in the words of the user's language.
    func content(of push: OpenedPush) -> NotificationContent {
        var content = push.content
        if let strings { content = content.localized(by: strings) }
        if content.body.isEmpty, let defaultBody { content.body.literal = defaultBody }
        return content
    }

    /// Whether the push names something that this extension doesn't fetch.
    func leavesOut(of push: OpenedPush) -> Bool {
        (push.offload != nil && offload == nil) || (!push.attachments.isEmpty && attachments == nil)
    }
}
