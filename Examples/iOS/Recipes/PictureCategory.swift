import PushCryptExtension

/// Shows the actions for a picture only below a picture. Without one, the category of the sealed payload stays.
struct PictureCategory: ContentStage {
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        if !content.attachments.isEmpty { content.category = "PICTURE" }
        return content
    }
}
