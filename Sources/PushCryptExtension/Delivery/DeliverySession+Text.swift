extension DeliverySession.Configuration {
    /// The content in the user's language, where the app gave its strings.
    func localized(_ content: NotificationContent) -> NotificationContent {
        strings.map { content.localized(by: $0) } ?? content
    }

    /// The delivery itself, if it has text; else one with the app's own text, which wasn't restored.
    ///
    /// The system shows the outer payload in place of content without text. So all that is handed over passes here, right
    /// before the handler: restored content, what stages made of it, placeholders, the unlock notice, unsealed pushes.
    func withText(_ delivery: DeliverySession.Delivery) -> DeliverySession.Delivery {
        guard !localized(delivery.content).hasText else { return delivery }
        // What was sealed with a key of the app's strings is genuine, and yet nothing can be shown of it.
        let failure = delivery.isRestored ? .malformed : delivery.failure ?? .notSealed
        let own = localized(fallback.bundledContent(failure))
        return DeliverySession.Delivery(
            content: own.hasText ? own : Fallback.bundled(.standard).bundledContent(failure), isRestored: false,
            failure: failure, stageFailures: delivery.stageFailures)
    }
}
