// The stubs of app groups and the keychain exist on Linux only. Apple's systems require entitlements.
#if canImport(PushCryptExampleExtension)
import Foundation
import PushCryptApple
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import Testing
import UserNotifications

@testable import PushCryptExampleExtension

/// The app, the backend and the extension of the guides, together. They have one app group and one keychain.
@Suite("example app", .serialized, .timeLimit(.minutes(1))) final class ExampleAppTests {
    private struct Offline: Error {}

    private let group = FileManager.default.stubAppGroup("group.com.example.app")
    private let uploads = Locked<[(record: Data, version: Data, token: String)]>([])
    private let isOnline = Locked(true)
    private let sealer: Sealer
    private let senders: Data
    /// A resource of the app.
    private let bundled = Bundle.main.bundleURL.appendingPathComponent("sender-pins.json")

    init() throws {
        try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
        let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        sealer = try Sealer(topic: "com.example.app", signer: try SenderKey(Keyset.Entry(record, KeyLifecycle())))
        let publisher = try KeyRecord.generate(.publisher, backend: DefaultBackend.shared)
        let pins = try SenderSetPins(
            publishers: [publisher.publicRecord(keepingPSK: false)], set: [UInt8](repeating: 7, count: 16), epoch: 1)
        try Data(pins.json).write(to: bundled)
        let now = UnixTime(Int64(Date().timeIntervalSince1970))
        let publication = try SenderSetPublication(
            set: pins.set, topics: [Topic("com.example.app")], epoch: 1, sequence: 1, issuedAt: now,
            validUntil: now + 86_400)
        let keyset = try Keyset([Keyset.Entry(record, KeyLifecycle(activatesAt: now))]).publicKeyset(keepingPSK: false)
        senders = Data(try SignedSenderSet.sign(keyset, publication, by: [publisher]))
    }

    deinit {
        try? FileManager.default.removeItem(at: group)
        try? FileManager.default.removeItem(at: bundled)
    }

    private func app() throws -> DeviceRegistration {
        let app = try DeviceRegistration { [uploads, isOnline] record, version, token in
            guard isOnline.withLock({ $0 }) else { throw Offline() }
            uploads.withLock { $0.append((record, version, token)) }
        }
        try app.identity.eraseAll()
        return app
    }

    private func device() throws -> RegisteredDevice {
        let upload = try #require(uploads.withLock { $0.last })
        return try RegisteredDevice(deviceToken: upload.token, record: upload.record)
    }

    /// Delivers a push to the extension and returns what it shows. The system creates a new service for each push.
    private func deliver(_ payload: Data) async throws -> (title: String, failure: String?) {
        let content = UNMutableNotificationContent()
        content.userInfo = try #require(try JSONSerialization.jsonObject(with: payload) as? [String: Any])
        let request = UNNotificationRequest(identifier: "1", content: content, trigger: nil)
        return await withCheckedContinuation { continuation in
            NotificationService().didReceive(request) { content in
                let status = content.userInfo["pushcrypt"] as? [String: Any]
                continuation.resume(returning: (content.title, status?["reason"] as? String))
            }
        }
    }

    @Test("a registered device receives pushes that the sender sealed to it") func registeredDeviceGetsPushes()
        async throws
    {
        let app = try app()
        try await app.start(deviceToken: Data([0x0a, 0xff]), senders: senders)
        try await app.start(deviceToken: Data([0x0a, 0xff]), senders: senders)
        #expect(uploads.withLock { $0.count } == 1)
        let version = try #require(try app.pins.version())
        #expect(uploads.withLock { $0[0].version } == Data(version.json))
        let request = try device().request(PushNotification(title: "Zoë"), sealer: sealer)
        #expect(request.path == "/3/device/0aff")
        #expect(request.headers["apns-topic"] == "com.example.app")
        #expect(try await deliver(request.body) == ("Zoë", nil))
        #expect(try await deliver(request.body).failure == "replayed")
        let unsigned = try Sealer(topic: "com.example.app").seal(
            PushNotification(title: "Forged"), to: device().recipient, placeholder: .standard)
        #expect(try await deliver(unsigned.json) == ("New message", "undecryptable"))
        // The extension counts once the content was handed over.
        while try app.store.statistics().failures.count < 2 { await Task.yield() }
        #expect(try app.store.statistics().opened?.count == 1)
        #expect(try Set(app.store.statistics().failures.keys) == [.replayed, .undecryptable])
        #expect(try app.advice(at: now()) == [])
    }

    /// A failed upload is repeated with the same key. A renewed key is a new one, and the old key still opens.
    @Test("the app uploads its registration until the server accepts it") func uploadsUntilItSucceeds() async throws {
        let app = try app()
        isOnline.withLock { $0 = false }
        await #expect(throws: Offline.self) { try await app.start(deviceToken: Data([1]), senders: senders) }
        let kid = try app.identity.current()?.kid
        isOnline.withLock { $0 = true }
        try await app.start(deviceToken: Data([1]), senders: senders)
        #expect(try app.identity.current()?.kid == kid)
        #expect(try app.identity.current()?.isConfirmed == true)
        let old = try device().request(PushNotification(title: "Old"), sealer: sealer)
        try await app.renew(deviceToken: Data([1]))
        #expect(uploads.withLock { $0.count } == 2)
        #expect(try app.identity.current()?.kid != kid)
        let new = try device().request(PushNotification(title: "New"), sealer: sealer)
        let opener = try Opener(
            topic: "com.example.app", keyring: app.storage, senders: .pinned(app.pins))
        #expect(try opener.open(Array(old.body), at: now()).get().content.title.literal == "Old")
        #expect(try opener.open(Array(new.body), at: now()).get().content.title.literal == "New")
    }

    private func now() -> UnixTime { UnixTime(Int64(Date().timeIntervalSince1970)) }
}
#endif
