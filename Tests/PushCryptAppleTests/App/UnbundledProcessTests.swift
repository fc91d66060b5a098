import Foundation
import PushCryptExtension
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

/// A process without an app bundle, such as a unit test without a host app. `UNUserNotificationCenter.current()` ends it.
@Suite struct UnbundledProcessTests {
    @Test("asking for the notification centre ends a process without an app bundle, as on Apple's systems")
    func asking() async {
        await #expect(processExitsWith: .failure) {
            StubProcess.current.hasAppBundle = false
            _ = UNUserNotificationCenter.current()
        }
    }

    @Test("a service, its configuration and what opens its placeholders don't ask for the notification centre")
    func notAsking() async {
        await #expect(processExitsWith: .success) {
            StubProcess.current.hasAppBundle = false
            let channel = try Channel()
            let payload = try channel.seal(#"{"aps":{"alert":"Hi"}}"#)
            let service = TestService { try channel.configuration() }
            #expect(try await service.receive(payload).content().body == "Hi")
            _ = KeptNotifications(try channel.configuration())
            _ = SystemNotifications()
        }
    }

    @Test("removing due notifications asks for the notification centre only if there are any")
    func nothingDue() async {
        await #expect(processExitsWith: .success) {
            StubProcess.current.hasAppBundle = false
            let folder = try TemporaryFolder()
            let group = AppGroup("group", folder: URL(fileURLWithPath: folder.path), topic: "com.example.app")
            try await group.removeDueNotifications()
        }
    }
}
