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
@Suite("example app", .serialized, .timeLimit(.minutes(5))) final class ExampleAppTests {
    private struct Offline: Error {}

    private let group = FileManager.default.stubAppGroup("group.com.example.app")
    private let uploads = Locked<[PushRegistration.Upload]>([])
    private let published = Locked(Data())
    private let isOnline = Locked(true)
    private let sealer: Sealer
    private let issuedAt = UnixTime(Int64(Date().timeIntervalSince1970))
    private let sender: KeyRecord
    private let publisher: KeyRecord
    /// A resource of the app.
    private let bundled = Bundle.main.bundleURL.appendingPathComponent("sender-pins.json")

    init() throws {
        try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
        sender = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        sealer = try Sealer(topic: "com.example.app", signer: try SenderKey(Keyset.Entry(sender, KeyLifecycle())))
        publisher = try KeyRecord.generate(.publisher, backend: DefaultBackend.shared)
        let pins = try SenderSetPins(
            publishers: [publisher.publicRecord(keepingPSK: false)], set: Self.set, epoch: 1)
        try Data(pins.json).write(to: bundled)
    }

    private static let set = [UInt8](repeating: 7, count: 16)

    /// The signed set that the backend publishes.
    private func senders(_ sequence: Int64 = 1) throws -> Data {
        let publication = try SenderSetPublication(
            set: Self.set, topics: [Topic("com.example.app")], epoch: 1, sequence: sequence, issuedAt: issuedAt,
            validUntil: issuedAt + 86_400)
        let keyset = try Keyset([Keyset.Entry(sender, KeyLifecycle(activatesAt: issuedAt))])
        return try Data(
            SignedSenderSet.sign(keyset.publicKeyset(keepingPSK: false), publication, by: [publisher]))
    }

    deinit {
        try? FileManager.default.removeItem(at: group)
        try? FileManager.default.removeItem(at: bundled)
    }

    /// The app's backend, which the test sets off line.
    private struct TestBackend: Backend {
        let uploads: Locked<[PushRegistration.Upload]>
        let isOnline: Locked<Bool>
        let senders: Locked<Data>

        func store(_ registration: PushRegistration.Upload) async throws {
            guard isOnline.withLock({ $0 }) else { throw Offline() }
            uploads.withLock { $0.append(registration) }
        }

        func senderSet() async throws -> Data { senders.withLock { $0 } }
    }

    /// An app in which `account` is signed in; nil for no user.
    private func app(account: String? = "zoë") async throws -> DeviceRegistration {
        let first = try senders()
        published.withLock { $0 = first }
        let app = try await DeviceRegistration(
            TestBackend(uploads: uploads, isOnline: isOnline, senders: published))
        try await app.signOut()
        if let account { #expect(try await app.signedIn(as: account) == nil) }
        return app
    }

    private func appGroup() throws -> AppGroup { try AppGroup("group.com.example.app") }

    private func device() throws -> RegisteredDevice {
        let upload = try #require(uploads.withLock { $0.last })
        return try RegisteredDevice(deviceToken: upload.deviceToken, record: upload.record)
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
        let app = try await app()
        #expect(try await app.received(Data([0x0a, 0xff]))?.isUploaded == true)
        let request = try device().request(PushNotification(title: "Zoë"), sealer: sealer)
        #expect(request.path == "/3/device/0aff")
        #expect(request.headers["apns-topic"] == "com.example.app")
        #expect(try await deliver(request.body) == ("Zoë", nil))
        #expect(try await deliver(request.body).failure == "replayed")
        let unsigned = try Sealer(topic: "com.example.app").seal(
            PushNotification(title: "Forged"), to: device().recipient, placeholder: .standard)
        #expect(try await deliver(unsigned.json) == ("New message", "undecryptable"))
        let statistics = try appGroup().store(.app).statistics()
        #expect(statistics.opened?.count == 1)
        #expect(Set(statistics.failures.keys) == [.replayed, .undecryptable])
        let outcome = try #require(try await app.received(Data([0x0a, 0xff])))
        #expect(!outcome.isUploaded && outcome.senderSetFailure == nil && outcome.advice == [])
    }

    @Test("the app uploads when user and token are known, and again for another token, another user and after sign-out")
    func uploadsForEachChange() async throws {
        let app = try await app(account: nil)
        #expect(try await app.received(Data([1])) == nil)
        #expect(uploads.withLock { $0.isEmpty })
        _ = try await app.signedIn(as: "zoë")
        _ = try await app.signedIn(as: "zoë")
        _ = try await app.received(Data([2]))
        _ = try await app.signedIn(as: "amara")
        try await app.signOut()
        #expect(try appGroup().keyring.keyIDs().isEmpty)
        #expect(try await app.register() == nil)
        _ = try await app.signedIn(as: "amara")
        let all = uploads.withLock { $0 }
        #expect(all.map { $0.deviceToken + " " + $0.account } == ["01 zoë", "02 zoë", "02 amara", "02 amara"])
        // Only the key of the first three uploads was erased.
        let kids = all.map(\.kid)
        #expect(Set(kids.prefix(3)).count == 1 && Set(kids).count == 2)
    }

    /// The guide says how a backend compares it.
    @Test("an upload has the epoch, the seq and the digest of the payload of the set that the backend published")
    func senderSetVersion() async throws {
        let app = try await app()
        _ = try await app.received(Data([1]))
        let version = try #require(uploads.withLock { $0.last?.senderSetVersion })
        let set = try #require(
            JSONSerialization.jsonObject(with: published.withLock { $0 }) as? [String: Any])
        let encoded = try #require(set["payload"] as? String)
        let payload = try #require(Base64URL.decode(Array(encoded.utf8)[...]))
        let digest = Base64URL.encode(try DefaultBackend.shared.sha256(payload.bytes))
        #expect(String(decoding: version, as: UTF8.self) == #"{"epoch":1,"seq":1,"digest":"\#(digest)"}"#)
    }

    /// For a test without a backend.
    @Test("the backend for the Simulator returns the set of the app's resources, and throws if the app has none")
    func simulatorBackend() async throws {
        await #expect(throws: (any Error).self) { try await SimulatorBackend().senderSet() }
        let file = Bundle.main.bundleURL.appendingPathComponent("senders.json")
        try senders().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let app = try await DeviceRegistration(SimulatorBackend())
        _ = try await app.signedIn(as: "zoë")
        let outcome = try #require(try await app.received(Data([1])))
        #expect(outcome.isUploaded && outcome.senderSetFailure == nil)
        #expect(try appGroup().senderPins().version()?.sequence == 1)
    }

    @Test("the app registers although the sender set was refused, and returns why it was refused")
    func refusedSet() async throws {
        let app = try await app()
        published.withLock { $0 = Data("{}".utf8) }
        let outcome = try #require(try await app.received(Data([1])))
        #expect((outcome.senderSetFailure as? DeviceKeyError)?.code == .unsuitable)
        #expect(uploads.withLock { $0.count } == 1)
        #expect(try appGroup().senderPins().version() == nil)
    }

    /// A failed upload is repeated with the same key.
    @Test("the app uploads its registration until the server accepts it") func uploadsUntilItSucceeds() async throws {
        let app = try await app()
        isOnline.withLock { $0 = false }
        for _ in 0..<2 {
            await #expect(throws: Offline.self) { try await app.received(Data([1])) }
        }
        let kids = try appGroup().keyring.keyIDs()
        isOnline.withLock { $0 = true }
        _ = try await app.register()
        #expect(uploads.withLock { $0.map(\.kid) } == kids)
        let push = try device().request(PushNotification(title: "Zoë"), sealer: sealer)
        let group = try appGroup()
        let opener = try Opener(
            topic: group.topic, keyring: group.keyring, senders: .pinned(group.senderPins()))
        #expect(try opener.open(Array(push.body), at: .now).get().content.title.literal == "Zoë")
    }
}
#endif
