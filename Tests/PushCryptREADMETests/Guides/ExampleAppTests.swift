// The stubs of app groups and the keychain exist on Linux only. Apple's systems require entitlements.
#if canImport(PushCryptExampleExtension)
import Foundation
import PushCryptApple
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Security
import Testing
import UserNotifications

@testable import PushCryptExampleExtension

/// The app, the backend and the extension of the guides, together. They have one app group and one keychain.
@MainActor @Suite("example app", .serialized, .timeLimit(.minutes(5))) final class ExampleAppTests {
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
        sealer = try Sealer(topic: "com.example.app", signer: .key(SenderKey(Keyset.Entry(sender, KeyLifecycle()))))
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
        let app = try DeviceRegistration(
            appGroup(), TestBackend(uploads: uploads, isOnline: isOnline, senders: published))
        try await app.signOut()
        if let account { #expect(try await app.signedIn(as: account) == nil) }
        return app
    }

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
        // Another token has the same key. Another user and a sign-out erase it.
        let kids = all.map(\.kid)
        #expect(kids[0] == kids[1] && Set(kids).count == 3)
    }

    @Test("a sign-out removes the keys and what the notifications have left")
    func signOutRemovesTraces() async throws {
        let app = try await app()
        _ = try await app.received(Data([1]))
        let (group, center) = (try appGroup(), UNUserNotificationCenter.current())
        defer { center.stubDelivered = [] }
        center.stubDelivered = [UNNotificationRequest(identifier: "1", content: UNNotificationContent(), trigger: nil)]
        let avatar = group.folder.appendingPathComponent("avatars")
        try FileManager.default.createDirectory(at: avatar, withIntermediateDirectories: true)
        try group.previewChoice.set(.nothing)
        try await group.setBadge(3)
        try await app.signOut()
        #expect(center.stubDelivered.isEmpty && center.stubBadge == 0)
        #expect(try group.store(.app).badge() == 0)
        #expect(group.previewChoice.current == .everything)
        #expect(!FileManager.default.fileExists(atPath: avatar.path))
        #expect(try group.keyring.keyIDs().isEmpty)
    }

    @Test("a sign-out while the keys are locked is completed when protected data is available")
    func signOutIsCompleted() async throws {
        let app = try await app()
        _ = try await app.received(Data([1]))
        let group = try appGroup()
        StubKeychain.shared.setCondition(.locked, ofGroup: group.keychainGroup)
        await #expect(throws: DeviceKeyError.self) { try await app.signOut() }
        StubKeychain.shared.setCondition(.open, ofGroup: group.keychainGroup)
        #expect(try !group.keyring.keyIDs().isEmpty)
        #expect(try await app.register() == nil)
        #expect(try group.keyring.keyIDs().isEmpty)
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
        let app = try DeviceRegistration(appGroup(), SimulatorBackend())
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

    /// The extension of the guide about notifications in the app.
    private final class SharedService: PushCryptNotificationService {
        override func configure() throws -> ExtensionConfiguration {
            try sharedConfiguration(AppGroup("group.com.example.app"))
        }
    }

    // Unchecked: content that was handed over doesn't change.
    private struct Shown: @unchecked Sendable {
        let content: UNNotificationContent
    }

    /// What the app did.
    private final class Actions: Sendable {
        let list = Locked<[String]>([])
        func add(_ action: String) { list.withLock { $0.append(action) } }
    }

    /// Restores a push and returns the system's notification of it.
    private func notification(_ payload: Data, restored: Bool = true) async throws -> UNNotification {
        var content: UNNotificationContent = try Self.content(payload)
        if restored {
            let request = UNNotificationRequest(identifier: "n1", content: content, trigger: nil)
            content = await withCheckedContinuation { continuation in
                SharedService().didReceive(request) { continuation.resume(returning: Shown(content: $0)) }
            }.content
        }
        return UNNotification(
            stubRequest: UNNotificationRequest(
                identifier: "n1", content: content, trigger: UNPushNotificationTrigger(stub: ())))
    }

    private static func content(_ payload: Data) throws -> UNNotificationContent {
        let content = UNMutableNotificationContent()
        content.userInfo = try #require(try JSONSerialization.jsonObject(with: payload) as? [String: Any])
        return content
    }

    private func respond(_ response: UNNotificationResponse, _ delegate: PushCryptNotificationDelegate) async {
        await withCheckedContinuation { continuation in
            delegate.userNotificationCenter(.current(), didReceive: response) { continuation.resume() }
        }
    }

    @Test(
        """
        a tap and a reply reach the conversation of a restored message, a tapped placeholder is opened, a message of the \
        conversation on the screen isn't presented, and a forged one reaches nothing
        """)
    func notificationsInTheApp() async throws {
        _ = try await app().received(Data([1]))
        let actions = Actions()
        let notifications = try AppNotifications(
            appGroup(), openChat: { actions.add("open \($0)") }, sendReply: { actions.add("reply \($0) \($1)") })
        let delegate = notifications.delegate
        let sealed = try device().request(PushNotification(title: "Zoë", custom: ["chat": "c1"]), sealer: sealer)
        let restored = try await notification(sealed.body)
        let forged = try await notification(Data(#"{"aps":{"alert":"x"},"chat":"c1"}"#.utf8), restored: false)

        await respond(
            UNNotificationResponse(
                stubNotification: restored, actionIdentifier: UNNotificationDefaultActionIdentifier), delegate)
        await respond(
            UNTextInputNotificationResponse(
                stubNotification: restored, actionIdentifier: "REPLY", userText: "Hi"), delegate)
        await respond(
            UNNotificationResponse(
                stubNotification: forged, actionIdentifier: UNNotificationDefaultActionIdentifier), delegate)
        #expect(actions.list.withLock { $0 } == ["open c1", "reply Hi c1"])

        let kept = try device().request(PushNotification(title: "Amara", custom: ["chat": "c2"]), sealer: sealer)
        await respond(
            UNNotificationResponse(
                stubNotification: try await notification(kept.body, restored: false),
                actionIdentifier: UNNotificationDefaultActionIdentifier), delegate)
        #expect(actions.list.withLock { $0.last } == "open c2")

        notifications.registerCategories()
        let categories = await SystemNotifications().categories()
        #expect(categories.map(\.id) == ["MESSAGE"] && categories.first?.actions.map(\.id) == ["REPLY"])

        var presented: [Bool] = []
        for (chat, notification) in [(nil, restored), ("c1", restored), ("c2", restored), ("c1", forged)] {
            notifications.currentChat = chat
            let options = await withCheckedContinuation { continuation in
                delegate.userNotificationCenter(.current(), willPresent: notification) {
                    continuation.resume(returning: $0)
                }
            }
            presented.append(!options.isEmpty)
        }
        #expect(presented == [true, false, true, true])
    }

    @Test("a silent push gives the app its payload once, and a forged one nothing")
    func silentPush() async throws {
        _ = try await app().received(Data([1]))
        let pushes = try SilentPushes(appGroup())
        let push = try device().request(
            PushNotification(title: "Zoë", isContentAvailable: true, custom: ["chat": "c1"]), sealer: sealer)
        let userInfo = try Self.content(push.body).userInfo
        #expect(await pushes.payload(of: userInfo)?["chat"] as? String == "c1")
        #expect(await pushes.payload(of: userInfo) == nil)
        #expect(await pushes.payload(of: ["aps": ["alert": "x"], "chat": "c1"]) == nil)
    }

    @Test(
        "when the app becomes active, a placeholder is replaced by its message, and an expired notification is removed")
    func becomesActive() async throws {
        _ = try await app().received(Data([1]))
        let center = UNUserNotificationCenter.current()
        defer { center.stubDelivered = [] }
        let push = try device().request(PushNotification(title: "Zoë"), sealer: sealer)
        center.stubDelivered = [try await notification(push.body, restored: false).request]
        let notifications = try AppNotifications(appGroup(), openChat: { _ in }, sendReply: { _, _ in })
        try await notifications.openKept()
        #expect(center.stubDelivered.map(\.content.title) == ["Zoë"])
        let opened = UNNotification(stubRequest: try #require(center.stubDelivered.first))
        let options = await withCheckedContinuation { continuation in
            notifications.delegate.userNotificationCenter(.current(), willPresent: opened) {
                continuation.resume(returning: $0)
            }
        }
        #expect(options == .list)

        let group = try appGroup()
        try await group.removeDueNotifications(at: .now + 86_400 * 60)
        #expect(center.stubDelivered.isEmpty)

        try await group.setBadge(12_000)
        #expect(center.stubBadge == 9_999)
        #expect(try group.store(.app).badge() == 9_999)
    }

    @Test("an app with scenes and one without them open a placeholder each time they become active")
    func lifeCycles() async throws {
        _ = try await app().received(Data([1]))
        let center = UNUserNotificationCenter.current()
        defer { center.stubDelivered = [] }
        for hasScenes in [true, false] {
            let app = RunningApp(hasScenes: hasScenes)
            let afterRegistration = app.delegate.afterRegistration
            for title in ["Zoë", "Amara"] {
                let push = try device().request(PushNotification(title: title), sealer: sealer)
                center.stubDelivered = [try await notification(push.body, restored: false).request]
                let isReady = Signal()
                app.delegate.afterRegistration = {
                    await afterRegistration()
                    isReady.give()
                }
                app.becomeActive()
                await isReady.wait()
                #expect(center.stubDelivered.map(\.content.title) == [title])
            }
        }
    }
}
#endif
