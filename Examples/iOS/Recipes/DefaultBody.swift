import PushCryptExtension

/// Shows the app's own body, in the user's language, if the sealed payload has none.
struct DefaultBody: ContentStage {
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        if content.body.isEmpty {
            content.body = NotificationContent.Text(literal: "Open the app to read it.", locKey: "OPEN_TO_READ")
        }
        return content
    }
}
