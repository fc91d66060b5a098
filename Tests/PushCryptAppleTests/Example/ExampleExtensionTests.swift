// The example is built with the stubs only: it has the identifiers of an app that doesn't exist.
#if canImport(PushCryptExampleExtension)
import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSender
import Testing
import UserNotifications

@testable import PushCryptApple
@testable import PushCryptExampleExtension

/// `Examples/iOSExtension` does what it says, with the app's part done before.
@Suite struct ExampleExtensionTests {
    private static let keychainGroup = "ABCDE12345.com.example.shared"
    private static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let folder = package.appendingPathComponent("Examples/iOSExtension")

    @Test(.timeLimit(.minutes(1))) func restoresWhatTheBackendSealed() async throws {
        let group = FileManager.default.stubAppGroups.appendingPathComponent("group.com.example.app")
        try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: FileManager.default.stubAppGroups) }
        let signer = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        try SenderPins(folder: group.appendingPathComponent("senders").path).pinFirst(json: publicJWK(signer))
        let storage = KeychainKeyring(accessGroup: Self.keychainGroup, usesSecureEnclave: false)
        let registration = try DeviceIdentity(storage: storage).makeIfNeeded()

        let sealer = Sealer(
            topic: "com.example.app", signer: try SenderKey(Keyset.Entry(signer, KeyLifecycle())))
        let recipient = try Recipient(jwk: Array(registration.jwk.bytes))
        let push = try sealer.seal(PushNotification(title: "Zoë", body: "Hi"), to: recipient, placeholder: .standard)
        let content = try await deliver(push)
        #expect(content.title == "Zoë")
        #expect(content.body == "Hi")
        #expect(try await deliver(push).failure == "replayed")

        let unsigned = try Sealer(topic: "com.example.app").seal(
            PushNotification(title: "Forged"), to: recipient, placeholder: .standard)
        #expect(try await deliver(unsigned).title == "New message")
        let store = SharedStore(folder: group.appendingPathComponent("pushes").path, role: .app)
        // Counted once the content was handed over.
        while try store.statistics().failures.count < 2 { await Task.yield() }
        let statistics = try store.statistics()
        #expect(statistics.opened?.count == 1)
        #expect(Set(statistics.failures.keys) == [.replayed, .undecryptable])
    }

    /// The system makes a new service for each push.
    private func deliver(_ push: SealedPush) async throws -> UNNotificationContent {
        let shown = Shown()
        NotificationService().didReceive(try Channel.request(Array(push.json))) { shown.handle($0) }
        return await shown.content()
    }

    private func publicJWK(_ record: KeyRecord) throws -> [UInt8] {
        var json = [UInt8]()
        try record.publicRecord(keepingPSK: false).appendJWK(to: &json)
        return json
    }

    @Test func isShort() throws {
        let text = try String(
            contentsOf: Self.folder.appendingPathComponent("NotificationService.swift"), encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 40)
    }

    @Test func namesItsClass() throws {
        let plist = try propertyList("Info.plist")
        let `extension` = try #require(plist["NSExtension"] as? [String: String])
        #expect(`extension`["NSExtensionPointIdentifier"] == "com.apple.usernotifications.service")
        #expect(`extension`["NSExtensionPrincipalClass"] == "$(PRODUCT_MODULE_NAME).\(NotificationService.self)")
    }

    @Test(arguments: ["App.entitlements", "NotificationService.entitlements"])
    func sharesWithTheApp(_ name: String) throws {
        let plist = try propertyList(name)
        #expect(plist["com.apple.security.application-groups"] as? [String] == ["group.com.example.app"])
        #expect(plist["keychain-access-groups"] as? [String] == ["$(AppIdentifierPrefix)com.example.shared"])
        #expect((plist["aps-environment"] != nil) == (name == "App.entitlements"))
    }

    private func propertyList(_ name: String) throws -> [String: Any] {
        let data = try Data(contentsOf: Self.folder.appendingPathComponent(name))
        let plist = try unsafe PropertyListSerialization.propertyList(from: data, format: nil)
        return try #require(plist as? [String: Any])
    }
}
#endif
