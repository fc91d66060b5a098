/// What happens to a restored push, in order.
enum DeliveryStep: Sendable {
    case stage(InnerStage)
    case receipt
}

/// A stage as the session runs it.
struct InnerStage: Sendable {
    let name: String
    let timeLimit: Duration?
    /// Whether its failure is the push's `attachmentFailed`.
    let bringsAttachments: Bool
    let run: @Sendable (RestoredPush) async throws -> RestoredPush
}

extension InnerStage {
    init(_ stage: any ContentStage, bringsAttachments: Bool = false) {
        self.init(name: stage.name, timeLimit: stage.timeLimit, bringsAttachments: bringsAttachments) { restored in
            var next = restored
            next.content = try await stage.process(restored.content, of: restored.push)
            return next
        }
    }
}

extension DeliverySession.Configuration {
    var steps: [DeliveryStep] {
        var steps = [DeliveryStep]()
        if let attachments { steps.append(.stage(InnerStage(attachments, bringsAttachments: true))) }
        if receipts != nil { steps.append(.receipt) }
        return steps + stages.map { .stage(InnerStage($0)) }
    }
}
