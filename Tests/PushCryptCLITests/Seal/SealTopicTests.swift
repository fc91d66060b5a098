import Foundation
import Testing

@Suite("the topic of seal", .ownThreads) struct SealTopicTests {
    @Test(
        "a topic that looks like an extension's is sealed for, with a warning; an app's has none",
        arguments: [
            ("com.example.app.NotificationService", true), ("com.example.app.nse", true), ("com.example.app", false),
            ("com.example.extension", true), ("com.example.notifications", false),
        ])
    func warning(_ topic: String, _ warns: Bool) throws {
        let place = try Workplace()
        try place.create("phone", "recipient", "--psk")
        let warning = "pushcrypt: the topic \(topic) looks like the bundle identifier of an extension: "
        let one = try place.seal(to: "phone", "--topic", topic)
        #expect(one.exit == 0 && one.stderr.hasPrefix(warning) == warns && (warns || one.stderr.isEmpty), "\(one)")
        let line = Data(#"{"payload":{"aps":{"alert":"x"}}}"#.utf8)
        let batch = try place.seal(to: "phone", "--topic", topic, "--batch", payload: line)
        #expect(batch.exit == 0 && batch.stderr.hasPrefix(warning) == warns, "\(batch)")
    }
}
