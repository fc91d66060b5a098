import PushCryptSimulator
import Testing

/// The part of an app that answers: it keeps what the user did.
@MainActor private final class AnsweringApp: NotificationResponder {
    var answers: [String] = []

    func received(_ response: ReceivedResponse) async {
        guard case .restored = response.notification else { return answers.append("unverified") }
        switch response.action {
        case .open: answers.append("open")
        case .dismiss: answers.append("dismiss")
        case .custom(let id): answers.append("\(id) \(response.text ?? "")")
        }
    }
}

@MainActor @Suite("responses of the user") struct ResponseRecipes {
    private let app = AnsweringApp()
    private let phone: TestDevice
    private let center: SimulatedNotificationCenter

    init() async throws {
        phone = try await TestDevice(topic: "com.example.app")
        center = phone.device.center
        center.setResponder(app, verifier: NotificationVerifier(store: phone.store))
        center.setCategories([
            NotificationCategory(
                id: "CHAT",
                actions: [
                    NotificationAction(id: "REPLY", title: "Reply", textInput: .init(buttonTitle: "Send")),
                    NotificationAction(id: "SHOW", title: "Show", options: .foreground),
                    NotificationAction(id: "PAY", title: "Pay", options: .authenticationRequired),
                ], options: .customDismissAction)
        ])
    }

    private func message() async throws -> String {
        let reception = try await phone.receive(sealed: #"{"aps":{"alert":"Hi","category":"CHAT"}}"#)
        return try #require(reception.requestID)
    }

    @Test("a tap opens the app, and the notification leaves the list")
    func tap() async throws {
        try await center.open(message())
        #expect(app.answers == ["open"] && center.appState == .foreground && center.deliveredNotifications.isEmpty)
    }

    @Test("a reply reaches the app in the background with its text, and Show brings the app to the front")
    func actions() async throws {
        try await center.choose("REPLY", of: message(), text: "On my way")
        #expect(app.answers == ["REPLY On my way"] && center.appState == .background)
        try await center.choose("SHOW", of: message())
        #expect(app.answers.last == "SHOW " && center.appState == .foreground)
    }

    @Test("a dismissal reaches the app if its category asks for it")
    func dismissal() async throws {
        try await center.dismiss(message())
        #expect(app.answers == ["dismiss"])
    }

    @Test("on a locked phone an action that needs the user's authentication isn't possible, and a reply is")
    func locked() async throws {
        let id = try await message()
        phone.device.lock()
        await #expect(throws: ResponseError.locked) { try await center.choose("PAY", of: id) }
        try await center.choose("REPLY", of: id, text: "Later")
        #expect(app.answers == ["REPLY Later"])
    }
}
