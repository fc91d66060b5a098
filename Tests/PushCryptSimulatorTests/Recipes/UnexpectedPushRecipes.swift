import Foundation
import PushCryptSimulator
import Testing

/// A stage that hides what only the app needs to know.
private struct HidesSync: ContentStage {
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        content.isSuppressed = content.category == "SYNC"
        return content
    }
}

@Suite("unexpected and hidden pushes") struct UnexpectedPushRecipes {
    @Test("a payload that wasn't sealed is shown untouched if the app accepts it, and as a placeholder otherwise")
    func notSealed() async throws {
        let payload = Data(#"{"aps":{"alert":"Ad","mutable-content":1},"x":[1]}"#.utf8)
        let accepting = try await TestDevice(topic: "com.example.app") { configuration, _ in
            configuration.unsealed = .shown
        }
        let shown = await accepting.receive(payload)
        #expect(shown.content?.body.literal == "Ad" && shown.content?.userInfo == [UInt8](payload))
        let refusing = try await TestDevice(topic: "com.example.app") { configuration, _ in
            configuration.fallback = .bundled(.standard)
        }
        let refused = await refusing.receive(payload)
        #expect(refused.failure == .notSealed && refused.content?.title.literal == "New message")
    }

    @Test("a push stays hidden with the entitlement for filtering, and is shown without sound otherwise")
    func hidden() async throws {
        for isEntitled in [true, false] {
            var options = SimulatedDevice.Options()
            options.hasFilteringEntitlement = isEntitled
            let phone = try await TestDevice(topic: "com.example.app", options: options) { configuration, _ in
                configuration.hasFilteringEntitlement = isEntitled
                configuration.stages = [HidesSync()]
            }
            let payload = #"{"aps":{"alert":"Hi","category":"SYNC","sound":"default"}}"#
            let reception = try await phone.receive(sealed: payload)
            #expect(reception.content?.body.literal == (isEntitled ? nil : "Hi"))
            #expect(phone.device.center.presentations.map(\.sound) == (isEntitled ? [] : [nil]))
        }
    }

    @Test("a push that is received twice is shown once, and then as a placeholder")
    func replayed() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        let push = try phone.sealed(#"{"aps":{"alert":"Hi"}}"#)
        #expect(await phone.receive(push).content?.body.literal == "Hi")
        let again = await phone.receive(push)
        #expect(again.failure == .replayed && again.content?.title.literal == "New message")
    }
}
