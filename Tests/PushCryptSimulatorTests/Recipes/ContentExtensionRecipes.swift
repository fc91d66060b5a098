import PushCryptSimulator
import Testing

/// A content extension that plays a message, and answers as the test says.
private struct Player: NotificationContentExtension {
    let categories = ["AUDIO"]
    var hidesDefaultContent = false
    var answer = ContentExtensionResponse.dismiss

    func received(_ notification: DeliveredNotification, in context: any ContentExtensionContext) async {
        context.setActions([NotificationAction(id: "PLAY", title: "Play")])
    }

    func received(_ action: NotificationAction, text: String?) async -> ContentExtensionResponse { answer }
}

@MainActor private final class PlayingApp: NotificationResponder {
    var actions: [ReceivedResponse.Action] = []

    func received(_ response: ReceivedResponse) async { actions.append(response.action) }
}

@MainActor @Suite("content extensions") struct ContentExtensionRecipes {
    @Test(
        "a content extension keeps the notification, removes it, or passes the action on to the app",
        arguments: [(ContentExtensionResponse.doNotDismiss, 1, 0), (.dismiss, 0, 0), (.dismissAndForward, 0, 1)])
    func responses(_ answer: ContentExtensionResponse, listed: Int, forwarded: Int) async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        let (center, app) = (phone.device.center, PlayingApp())
        center.setResponder(app)
        center.addContentExtension(Player(answer: answer))
        let reception = try await phone.receive(sealed: #"{"aps":{"alert":"Hi","category":"AUDIO"}}"#)
        let id = try #require(reception.requestID)
        try await center.expand(id)
        try await center.choose("PLAY", of: id)
        #expect(center.deliveredNotifications.count == listed && app.actions.count == forwarded)
    }

    @Test("title and body are shown beside the extension's view, unless it hides them", arguments: [false, true])
    func defaultContent(isHidden: Bool) async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        phone.device.center.addContentExtension(Player(hidesDefaultContent: isHidden))
        let reception = try await phone.receive(sealed: #"{"aps":{"alert":"Hi","category":"AUDIO"}}"#)
        let shown = try await phone.device.center.expand(#require(reception.requestID))
        #expect(shown?.defaultContent?.body.literal == (isHidden ? nil : "Hi"))
    }
}
