import PushCryptExtension

/// Replaces the phone number in the title by the name from the user's address book.
struct ContactName: ContentStage {
    let timeLimit: Duration? = .seconds(3)
    let lookUp: @Sendable (_ number: String) async throws -> String

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        content.title.literal = try await lookUp(content.title.literal ?? "")
        return content
    }
}
