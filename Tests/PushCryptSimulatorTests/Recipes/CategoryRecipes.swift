import PushCryptSimulator
import Testing

/// Sets the category of pictures only if the picture arrived.
private struct PictureCategory: ContentStage {
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        if !content.attachments.isEmpty { content.category = "PICTURE" }
        return content
    }
}

/// The content extension of the category. It reads the picture, and offers to save it.
private struct PictureView: NotificationContentExtension {
    let categories = ["PICTURE"]

    func received(_ notification: DeliveredNotification, in context: any ContentExtensionContext) async {
        guard let file = notification.request.content.attachments.first, context.startAccessing(file) else { return }
        defer { context.stopAccessing(file) }
        if context.read(file) == picture { context.setActions([NotificationAction(id: "SAVE", title: "Save")]) }
    }

    func received(_ action: NotificationAction, text: String?) async -> ContentExtensionResponse { .dismiss }
}

@Suite("a category for pictures") struct CategoryRecipes {
    private func phone() async throws -> TestDevice {
        let phone = try await TestDevice(topic: "com.example.app", plainMembers: ["image_url"]) { configuration, _ in
            configuration.stages = [PictureCategory()]
        }
        phone.device.center.setCategories([
            NotificationCategory(id: "PICTURE", actions: [NotificationAction(id: "SHARE", title: "Share")])
        ])
        phone.device.center.addContentExtension(PictureView())
        return phone
    }

    private let payload = #"{"aps":{"alert":"Hi","category":"CHAT"},"image_url":"https://example.com/p"}"#

    @Test("a picture that arrived brings its category, with the actions and the content extension")
    func arrived() async throws {
        let phone = try await phone()
        phone.device.network.serve(picture, at: "https://example.com/p")
        let id = try #require(try await phone.receive(sealed: payload).requestID)
        let context = try #require(try await phone.device.center.expand(id))
        #expect(context.actions?.map(\.id) == ["SAVE"] && context.accessedPaths.isEmpty)
        try await phone.device.center.choose("SAVE", of: id)
        #expect(phone.device.center.deliveredNotifications.isEmpty)
    }

    @Test("without its picture a push keeps the category of its payload, and has neither actions nor content extension")
    func missing() async throws {
        let phone = try await phone()
        let reception = try await phone.receive(sealed: payload)
        let id = try #require(reception.requestID)
        #expect(reception.content?.category == "CHAT")
        #expect(try await phone.device.center.expand(id) == nil)
        await #expect(throws: ResponseError.noAction) { try await phone.device.center.choose("SHARE", of: id) }
    }
}
