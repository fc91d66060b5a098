import PushCryptSimulator
import Testing

@Suite("a locked phone") struct LockRecipes {
    @Test("before the first unlock the placeholder is shown, and afterwards the app opens it")
    func beforeTheFirstUnlock() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        phone.device.restart()
        let reception = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"}}"#)
        #expect(reception.failure == .keyLocked && reception.content?.title.literal == "New message")
        let kept = try #require(try phone.device.keptNotifications())
        #expect(await kept.open().map(\.failure) == [.keyLocked])
        phone.device.unlock()
        #expect(await kept.open().map(\.content?.body.literal) == ["Hi"])
        #expect(phone.device.center.deliveredNotifications.map(\.request.content.body.literal) == ["Hi"])
    }

    @Test("hidden previews show the category's text with the number of messages, until the phone is unlocked")
    func hiddenPreviews() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        phone.device.center.setCategories([
            NotificationCategory(id: "CHAT", hiddenPreviewsBodyPlaceholder: "%u messages")
        ])
        phone.device.center.changeSettings { $0.previews = .whenUnlocked }
        phone.device.lock()
        _ = try await phone.receive(sealed: #"{"aps":{"alert":{"title":"Zoë","body":"Hi"},"category":"CHAT"}}"#)
        let hidden = try #require(phone.device.center.lockScreen.groups.first?.banners.first)
        #expect(hidden.isHidden && hidden.title == nil && hidden.body == "1 messages")
        phone.device.unlock()
        #expect(phone.device.center.lockScreen.groups.first?.banners.first?.title == "Zoë")
    }

    @Test("hidden previews without a category show no text of the push, and a category can show the title")
    func hiddenTitle() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        phone.device.center.setCategories([NotificationCategory(id: "NEWS", options: .hiddenPreviewsShowTitle)])
        phone.device.center.changeSettings { $0.previews = .never }
        for category in ["NONE", "NEWS"] {
            let payload = #"{"aps":{"alert":{"title":"Zoë","body":"Hi"},"category":"\#(category)"}}"#
            let reception = try await phone.receive(sealed: payload)
            let banners = phone.device.center.lockScreen.groups.flatMap(\.banners)
            let banner = try #require(banners.first { $0.id == reception.requestID })
            #expect(banner.title == (category == "NEWS" ? "Zoë" : nil) && banner.body != "Hi")
        }
    }
}
