import PushCryptSimulator
import Testing

/// The delegate of an app: it decides by the kind of notification how it is presented while the app is on the screen.
@MainActor private final class ForegroundApp: NotificationResponder {
    var presented: [ReceivedNotification] = []

    func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
        presented.append(notification)
        switch notification {
        case .restored: return [.banner, .sound]
        case .unverified: return [.list]
        case .local(let request):
            if case .timeInterval = request.trigger { return [.banner] }
            return []
        }
    }
}

@MainActor @Suite("the app in the foreground") struct ForegroundRecipes {
    private let app = ForegroundApp()
    private let phone: TestDevice

    init() async throws {
        phone = try await TestDevice(topic: "com.example.app")
        phone.device.center.setResponder(app, verifier: NotificationVerifier(store: phone.store))
        phone.device.center.appState = .foreground
    }

    @Test("the extension restores a push first, and then the app decides with its payload")
    func restoredPush() async throws {
        let reception = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"},"chat":"c1"}"#)
        guard case .restored(let restored) = app.presented.first else {
            Issue.record("the push isn't verified")
            return
        }
        #expect(reception.isRestored && String(decoding: restored.payload, as: UTF8.self).contains(#""chat":"c1""#))
        #expect(phone.device.center.presentations.last.map { [$0.isBanner, $0.isListed] } == [true, false])
    }

    @Test("a push that wasn't restored is unverified, and the app only lists it")
    func unverifiedPush() async throws {
        _ = await phone.receive(try await TestDevice(topic: "com.example.app").sealed(#"{"aps":{"alert":"Hi"}}"#))
        guard case .unverified = app.presented.first else {
            Issue.record("the push is verified")
            return
        }
        #expect(phone.device.center.presentations.last.map { [$0.isBanner, $0.isListed] } == [false, true])
    }

    @Test("a timer is a banner, and a notification of the app itself without a trigger is hidden")
    func localNotifications() async throws {
        var content = NotificationContent()
        content.title.literal = "Tea"
        let timer = NotificationTrigger.timeInterval(seconds: 5, repeats: false)
        try await phone.device.center.add(NotificationRequest(id: "timer", content: content, trigger: timer))
        phone.device.clock.advance(by: .seconds(5))
        await phone.device.center.settle()
        try await phone.device.center.add(NotificationRequest(id: "now", content: content))
        #expect(phone.device.center.presentations.map(\.isBanner) == [true, false])
    }

    @Test("an app in the foreground without a responder doesn't show a push")
    func hiddenPush() async throws {
        phone.device.center.setResponder(nil)
        let reception = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"}}"#)
        #expect(reception.content == nil && !reception.isRestored)
        #expect(reception.presentation?.origin == .notPresented)
    }

    @Test("in the background nothing is asked, and everything is shown that the user allows")
    func background() async throws {
        phone.device.center.appState = .background
        _ = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"}}"#)
        #expect(app.presented.isEmpty)
        #expect(phone.device.center.presentations.last.map { [$0.isBanner, $0.isListed] } == [true, true])
    }
}
