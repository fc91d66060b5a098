import PushCryptSimulator
import Testing

/// A stage that fills an empty body in the user's language.
private struct DefaultBody: ContentStage {
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        if content.body.isEmpty { content.body = .init(literal: "Open the app.", locKey: "OPEN_THE_APP") }
        return content
    }
}

@Suite("text, badge and sound") struct TextRecipes {
    @Test("an empty body is filled with the default body, in the user's language if the app has the text")
    func defaultBody() async throws {
        for (strings, body) in [([:], "Open the app."), (["OPEN_THE_APP": "Öffne die App."], "Öffne die App.")] {
            let phone = try await TestDevice(topic: "com.example.app") { configuration, _ in
                configuration.stages = [DefaultBody()]
            }
            phone.device.center.strings = strings
            let reception = try await phone.receive(sealed: #"{"aps":{"alert":{"title":"Zoë","body":""}}}"#)
            #expect(reception.content?.body.literal == body)
        }
    }

    @Test("title, subtitle, body, badge, sound, category and thread of the sealed payload are shown")
    func allMembers() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        let payload = """
            {"aps":{"alert":{"title":"Zoë","subtitle":"Berlin","body":"Hi"},"badge":3,"sound":"ping.caf",\
            "category":"CHAT","thread-id":"c1"}}
            """
        let content = try #require(try await phone.receive(sealed: payload).content)
        #expect([content.title, content.subtitle, content.body].map(\.literal) == ["Zoë", "Berlin", "Hi"])
        #expect(content.category == "CHAT" && content.threadID == "c1" && phone.device.center.badge == 3)
        #expect(phone.device.center.presentations.last?.sound?.name == "ping.caf")
    }

    @Test("the badge 0 removes the number on the icon, and a push without badge leaves it")
    func badge() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        var badges: [Int] = []
        for badge in [#","badge":3"#, "", #","badge":0"#] {
            _ = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"\#(badge)}}"#)
            badges.append(phone.device.center.badge)
        }
        #expect(badges == [3, 3, 0])
    }

    @Test("the app sets the number on the icon when its messages are read")
    func badgeOfTheApp() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        _ = try await phone.receive(sealed: #"{"aps":{"alert":"Hi","badge":3}}"#)
        try await phone.device.center.setBadgeCount(0)
        #expect(phone.device.center.badge == 0)
    }
}
