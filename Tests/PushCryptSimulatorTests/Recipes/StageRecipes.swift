import PushCryptSimulator
import Testing

/// A stage of the app: it marks the title.
private struct Marked: ContentStage {
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        content.title.literal? += " [modified]"
        return content
    }
}

@Suite("stages of the app") struct StageRecipes {
    @Test("a stage edits the title of a restored push")
    func title() async throws {
        let phone = try await TestDevice(topic: "com.example.app") { configuration, _ in
            configuration.stages = [Marked()]
        }
        let reception = try await phone.receive(sealed: #"{"aps":{"alert":{"title":"Zoë","body":"Hi"}}}"#)
        #expect(reception.content?.title.literal == "Zoë [modified]" && reception.content?.body.literal == "Hi")
    }

    @Test("a push that can't be restored shows the placeholder, and no stage runs")
    func otherPhone() async throws {
        let phone = try await TestDevice(topic: "com.example.app") { configuration, _ in
            configuration.stages = [Marked()]
        }
        let other = try await TestDevice(topic: "com.example.app")
        let reception = await phone.receive(try other.sealed(#"{"aps":{"alert":{"title":"Zoë"}}}"#))
        #expect(reception.failure == .unknownKey && reception.content?.title.literal == "New message")
    }
}
