import PushCryptSimulator
import Testing

/// Code of an app. On a phone its centre is `SystemNotifications` of PushCryptApple.
private struct Reminders {
    let center: any UserNotificationCenter

    /// Asks for permission if nothing was asked yet, and returns whether reminders are shown.
    func isAllowed() async throws -> Bool {
        switch await center.settings().authorization {
        case .notDetermined: try await center.requestAuthorization([.alert, .sound])
        case .authorized, .provisional: true
        case .denied: false
        }
    }

    func remind(of text: String) async throws {
        var content = NotificationContent()
        content.body.literal = text
        try await center.add(NotificationRequest(id: text, content: content))
    }
}

@Suite("permission") struct PermissionRecipes {
    @Test("the user is asked once, and agrees")
    func asked() async throws {
        let center = SimulatedNotificationCenter(SimulatedClock())
        let reminders = Reminders(center: center)
        #expect(try await reminders.isAllowed())
        #expect(try await reminders.isAllowed() && center.questionCount == 1)
        #expect(await center.settings().allowed == [.alert, .sound])
        try await reminders.remind(of: "Water")
        #expect(center.deliveredNotifications.map(\.id) == ["Water"])
    }

    @Test("a user who refuses isn't asked again, nothing can be shown, and a change in the settings allows it")
    func deniedAndChanged() async throws {
        let center = SimulatedNotificationCenter(SimulatedClock(), answer: { _ in false })
        let reminders = Reminders(center: center)
        #expect(try await !reminders.isAllowed())
        #expect(try await !reminders.isAllowed() && center.questionCount == 1)
        await #expect(throws: NotificationError.self) { try await reminders.remind(of: "Water") }
        center.allowInSettings()
        try await reminders.remind(of: "Water")
        #expect(try await reminders.isAllowed() && center.deliveredNotifications.count == 1)
    }

    @Test("without permission a push shows nothing and the extension doesn't run")
    func pushDenied() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        phone.device.center.changeSettings { $0.authorization = .denied }
        let reception = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"}}"#)
        #expect(reception.content == nil && reception.report == nil)
        #expect(try phone.store.statistics().opened == nil && phone.device.center.deliveredNotifications.isEmpty)
    }

    @Test("provisional permission needs no question, and shows notifications quietly")
    func provisional() async throws {
        let center = SimulatedNotificationCenter(SimulatedClock())
        #expect(try await center.requestAuthorization([.alert, .sound, .provisional]) && center.questionCount == 0)
        try await Reminders(center: center).remind(of: "Water")
        let presentation = try #require(center.presentations.first)
        #expect(presentation.isListed && !presentation.isBanner && center.lockScreen.groups.isEmpty)
    }
}
