import Foundation
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
            switch request.trigger {
            case .timeInterval: return [.banner]
            case .calendar: return [.banner, .list]
            case .location: return [.list]
            default: return []
            }
        }
    }
}

@MainActor @Suite("the app in the foreground") struct ForegroundRecipes {
    private let app = ForegroundApp()
    private let phone: TestDevice

    init() async throws {
        phone = try await TestDevice(topic: "com.example.app", calendar: GregorianCalendar(timeZone: .gmt))
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

    @Test("a timer, a calendar trigger and a region are presented by their kind, and without a trigger nothing is")
    func localNotifications() async throws {
        let center = phone.device.center
        var content = NotificationContent()
        content.title.literal = "Tea"
        let office = NotificationTrigger.Region(id: "office", latitude: 47.37, longitude: 8.54, radius: 200)
        let triggers: [(String, NotificationTrigger?)] = [
            ("timer", .timeInterval(seconds: 5, repeats: false)),
            ("calendar", .calendar(CalendarMatch(second: 0), repeats: false)), ("now", nil),
            ("region", .location(office, repeats: false)),
        ]
        for (id, trigger) in triggers {
            try await center.add(NotificationRequest(id: id, content: content, trigger: trigger))
            phone.device.clock.advance(by: .seconds(60))
            await center.settle()
        }
        await center.move(to: Position(latitude: 47.4, longitude: 8.6))
        await center.move(to: Position(latitude: 47.37, longitude: 8.54))
        let shown = center.presentations.map { ($0.notification.id, $0.isBanner, $0.isListed) }
        #expect(shown.map(\.0) == ["timer", "calendar", "now", "region"])
        #expect(shown.map(\.1) == [true, true, false, false] && shown.map(\.2) == [false, true, false, true])
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
