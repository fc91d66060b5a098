import Foundation
import PushCryptApple
import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Security
import Testing
import UserNotifications

/// The sample app, its backend and its extension, together. They have one app group and one keychain.
@MainActor @Suite("example app", .serialized, .timeLimit(.minutes(5))) final class ExampleAppTests {
    private struct Offline: Error {}

    private let group = FileManager.default.stubAppGroup("group.com.example.app")
    private let uploads = Locked<[PushRegistration.Upload]>([])
    private let errors = Locked<[any Error]>([])
    private let published = Locked(Data())
    private let isOnline = Locked(true)
    private let issuedAt = UnixTime(Int64(Date().timeIntervalSince1970))
    /// The sender whose key is in the app's code, one for all tests: a process keeps the extension's configuration.
    private static let sender = Result { try KeyRecord.generate(.sender, backend: DefaultBackend.shared) }
    private let sender: KeyRecord
    private let sealer: Sealer
    private let publisher: KeyRecord
    /// A resource of the app.
    private let bundled = Bundle.main.bundleURL.appendingPathComponent("sender-pins.json")

    init() throws {
        try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
        sender = try Self.sender.get()
        sealer = try Sealer(topic: "com.example.app", signer: .key(SenderKey(Keyset.Entry(sender, KeyLifecycle()))))
        if case .sender(let key, _) = sender.material {
            senderKey.withLock { $0 = Data(key.serialized).base64EncodedString() }
        }
        publisher = try KeyRecord.generate(.publisher, backend: DefaultBackend.shared)
        let pins = try SenderSetPins(
            publishers: [publisher.publicRecord(keepingPSK: false)], set: Self.set, epoch: 1)
        try Data(pins.json).write(to: bundled)
    }

    private static let set = [UInt8](repeating: 7, count: 16)

    /// The signed set that the backend publishes.
    private func senders(of other: Keyset? = nil) throws -> Data {
        let publication = try SenderSetPublication(
            set: Self.set, topics: [Topic("com.example.app")], epoch: 1, sequence: 1, issuedAt: issuedAt,
            validUntil: issuedAt + 86_400)
        let keyset = try other ?? Keyset([Keyset.Entry(sender, KeyLifecycle(activatesAt: issuedAt))])
        return try Data(
            SignedSenderSet.sign(keyset.publicKeyset(keepingPSK: false), publication, by: [publisher]))
    }

    deinit {
        try? FileManager.default.removeItem(at: group)
        try? FileManager.default.removeItem(at: bundled)
    }

    /// The configuration of the app's later version, which trusts a signed set in place of the key.
    private nonisolated static func pinned(_ group: AppGroup) throws -> ExtensionConfiguration {
        try ExtensionConfiguration(
            group, senders: .pinned(group.senderPins()),
            fallback: .bundled(.localized(title: "NEW_MESSAGE", body: nil)))
    }

    /// The extension of that version.
    private final class PinnedService: PushCryptNotificationService {
        override func configure() throws -> ExtensionConfiguration { try ExampleAppTests.pinned(appGroup()) }
    }

    /// An app in which `account` is signed in; nil for no user.
    private func app(
        account: String? = "zoë", pins: Bool = false, responder: (any NotificationResponder)? = nil
    ) async throws -> PushCrypt {
        let first = try senders()
        published.withLock { $0 = first }
        let app = PushCrypt.start(
            try appGroup(), configuration: pins ? Self.pinned : sharedConfiguration,
            senderSet: pins ? { @Sendable [published] in published.withLock { $0 } } : nil, responder: responder,
            report: { [errors] error in errors.withLock { $0.append(error) } },
            upload: { [uploads, isOnline] upload in
                guard isOnline.withLock({ $0 }) else { throw Offline() }
                uploads.withLock { $0.append(upload) }
            })
        try await app.signOut()
        if let account { #expect(await app.signIn(as: account).value == nil) }
        return app
    }

    private func device() throws -> RegisteredDevice {
        let upload = try #require(uploads.withLock { $0.last })
        return try RegisteredDevice(deviceToken: upload.deviceToken, record: upload.record)
    }

    /// Delivers a push to the extension and returns what it shows. The system creates a new service for each push.
    private func deliver(
        _ payload: Data, to service: PushCryptNotificationService = NotificationService()
    ) async throws -> (title: String, failure: String?) {
        let content = UNMutableNotificationContent()
        content.userInfo = try #require(try JSONSerialization.jsonObject(with: payload) as? [String: Any])
        let request = UNNotificationRequest(identifier: "1", content: content, trigger: nil)
        return await withCheckedContinuation { continuation in
            service.didReceive(request) { content in
                let status = content.userInfo["pushcrypt"] as? [String: Any]
                continuation.resume(returning: (content.title, status?["reason"] as? String))
            }
        }
    }

    @Test("a registered device receives pushes that the sender sealed to it, once, and no unsigned one")
    func registeredDeviceGetsPushes() async throws {
        let app = try await app()
        #expect(await app.received(Data([0x0a, 0xff])).value?.isUploaded == true)
        let request = try device().request(PushNotification(title: "Zoë"), sealer: sealer)
        #expect(request.path == "/3/device/0aff")
        #expect(request.headers["apns-topic"] == "com.example.app")
        #expect(try await deliver(request.body) == ("Zoë", nil))
        #expect(try await deliver(request.body).failure == "replayed")
        let unsigned = try Sealer(topic: "com.example.app").seal(
            PushNotification(title: "Forged"), to: device().recipient, placeholder: .standard)
        #expect(try await deliver(unsigned.json) == ("New message", "undecryptable"))
        let statistics = try appGroup().store(.app).statistics()
        #expect(statistics.opened?.count == 1 && statistics.lastRun?.count == 3)
        #expect(Set(statistics.failures.keys) == [.replayed, .undecryptable])
        let outcome = try #require(await app.received(Data([0x0a, 0xff])).value)
        #expect(!outcome.isUploaded && outcome.senderSetFailure == nil && app.advice == [])
        #expect(errors.withLock { $0.isEmpty })
    }

    @Test("pushes of one sender open in an app that has its key in the code, and in a later one that has pins")
    func keyThenPins() async throws {
        for pins in [false, true] {
            let app = try await app(pins: pins)
            #expect(await app.received(Data([1])).value?.isUploaded == true)
            let request = try device().request(PushNotification(title: "Zoë"), sealer: sealer)
            let service = pins ? PinnedService() : NotificationService()
            #expect(try await deliver(request.body, to: service) == ("Zoë", nil))
        }
        #expect(uploads.withLock { $0.map { $0.senderSetVersion != nil } } == [false, true])
    }

    @Test("the app uploads when user and token are known, and again for another token, another user and after sign-out")
    func uploadsForEachChange() async throws {
        let app = try await app(account: nil)
        #expect(await app.received(Data([1])).value == nil)
        #expect(uploads.withLock { $0.isEmpty })
        _ = await app.signIn(as: "zoë").value
        _ = await app.signIn(as: "zoë").value
        _ = await app.received(Data([2])).value
        _ = await app.signIn(as: "amara").value
        try await app.signOut()
        #expect(try appGroup().keyring.keyIDs().isEmpty)
        #expect(await app.refresh() == nil)
        _ = await app.signIn(as: "amara").value
        let all = uploads.withLock { $0 }
        #expect(all.map { $0.deviceToken + " " + $0.account } == ["01 zoë", "02 zoë", "02 amara", "02 amara"])
        // Another token has the same key. Another user and a sign-out erase it.
        let kids = all.map(\.kid)
        #expect(kids[0] == kids[1] && Set(kids).count == 3)
    }

    @Test(
        "the report has the device's keys and the extension's last run, and of an app without its pins the missing file"
    )
    func reports() async throws {
        let app = try await app()
        _ = await app.received(Data([1])).value
        #expect(try await !String(decoding: app.deviceReport().json(), as: UTF8.self).contains("extension"))
        _ = try await deliver(try device().request(PushNotification(title: "Zoë"), sealer: sealer).body)
        let report = String(decoding: try await app.deviceReport().json(), as: UTF8.self)
        let keys = try await app.keyIDs()
        #expect(report.contains(#""extension":{"count":1,"#) && report.contains(keys[0].description))
        let other = PushCrypt.start(
            try appGroup(),
            configuration: {
                try ExtensionConfiguration(
                    $0, senders: .pinned($0.senderPins(resource: "none")), fallback: .bundled(.standard))
            }, report: { _ in }, upload: { _ in })
        let text = String(decoding: try await other.deviceReport().json(), as: UTF8.self)
        #expect(text.contains(#""senders":{"error":"missingResource""#) && text.contains(#""store":"available""#))
    }

    @Test("a sign-out removes the keys and what the notifications have left")
    func signOutRemovesTraces() async throws {
        let app = try await app()
        _ = await app.received(Data([1])).value
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

    @Test("a sign-out while the keys are locked is completed when the app becomes active, and no error is reported")
    func signOutIsCompleted() async throws {
        let app = try await app()
        _ = await app.received(Data([1])).value
        let group = try appGroup()
        StubKeychain.shared.setCondition(.locked, ofGroup: group.keychainGroup)
        await #expect(throws: DeviceKeyError.self) { try await app.signOut() }
        #expect(await app.refresh() == nil)
        StubKeychain.shared.setCondition(.open, ofGroup: group.keychainGroup)
        #expect(try !group.keyring.keyIDs().isEmpty)
        #expect(await app.refresh() == nil)
        #expect(try group.keyring.keyIDs().isEmpty)
        #expect(errors.withLock { $0.isEmpty })
    }

    /// The guide says how a backend compares it.
    @Test("an upload has the epoch, the seq and the digest of the payload of the set that the backend published")
    func senderSetVersion() async throws {
        let app = try await app(pins: true)
        _ = await app.received(Data([1])).value
        let version = try #require(uploads.withLock { $0.last?.senderSetVersion })
        let set = try #require(
            JSONSerialization.jsonObject(with: published.withLock { $0 }) as? [String: Any])
        let encoded = try #require(set["payload"] as? String)
        let payload = try #require(Base64URL.decode(Array(encoded.utf8)[...]))
        let digest = Base64URL.encode(try DefaultBackend.shared.sha256(payload.bytes))
        #expect(String(decoding: version, as: UTF8.self) == #"{"epoch":1,"seq":1,"digest":"\#(digest)"}"#)
    }

    @Test("the app registers although the sender set was refused, and reports why it was refused")
    func refusedSet() async throws {
        let app = try await app(account: nil, pins: true)
        published.withLock { $0 = Data("{}".utf8) }
        #expect(await app.signIn(as: "zoë").value == nil)
        #expect(await app.received(Data([1])).value?.isUploaded == true)
        #expect(errors.withLock { ($0.last as? DeviceKeyError)?.code } == .unsuitable)
        #expect(try appGroup().senderPins().version() == nil)
    }

    @Test("an app that was started in the background, without a device token, updates its sender keys")
    func updatesInTheBackground() async throws {
        let app = try await app(pins: true)
        #expect(try appGroup().senderPins().version()?.sequence == 1)
        #expect(await app.refresh() == nil)
        #expect(errors.withLock { $0.isEmpty } && uploads.withLock { $0.isEmpty })
    }

    @Test(
        "an updated app that has pins and no set yet opens pushes of the key in its code, and then those of the set alone"
    )
    func keyUntilPins() async throws {
        let app = try await app()
        _ = await app.received(Data([1])).value
        let pins = try appGroup().senderPins()
        let key = senderKey.withLock { $0 }
        func open() throws -> FailureClass? {
            let opener = try Opener(
                topic: "com.example.app", keyring: appGroup().keyring, senders: .key(key, until: pins))
            let push = try device().request(PushNotification(title: "Zoë"), sealer: sealer)
            if case .failure(let failure) = opener.open(Array(push.body), at: .now) { return failure }
            return nil
        }
        #expect(try open() == nil)
        let other = try Keyset([
            Keyset.Entry(
                KeyRecord.generate(.sender, backend: DefaultBackend.shared), KeyLifecycle(activatesAt: issuedAt))
        ])
        try pins.accept(Array(senders(of: other)))
        #expect(try open() == .unknownKey)
        let file = group.appendingPathComponent("senders")
        for name in try FileManager.default.contentsOfDirectory(atPath: file.path) where name.hasPrefix("sender-set") {
            try Data("{}".utf8).write(to: file.appendingPathComponent(name))
        }
        #expect(try open() == .unknownKey)
    }

    @Test("a registration that the backend asks for before the app has the device token is uploaded when it has")
    func requestedBeforeToken() async throws {
        let first = try await app()
        _ = await first.received(Data([1])).value
        // The system starts the app again.
        let second = PushCrypt.start(
            try appGroup(), configuration: sharedConfiguration,
            upload: { [uploads] upload in uploads.withLock { $0.append(upload) } })
        _ = await second.signIn(as: "zoë").value
        #expect(await second.refresh(isRequested: true) == nil)
        #expect(await second.received(Data([1])).value?.isUploaded == true)
        #expect(await second.received(Data([1])).value?.isUploaded == false)
        #expect(uploads.withLock { $0.count } == 2)
    }

    @Test("a registration that the backend asks for while another one is running is uploaded after it")
    func requestedMeanwhile() async throws {
        let app = try await app()
        let (begun, mayEnd) = (Signal(), Signal())
        let busy = PushCrypt.start(
            try appGroup(), configuration: sharedConfiguration,
            upload: { [uploads] upload in
                let isFirst = uploads.withLock { uploads in
                    uploads.append(upload)
                    return uploads.count == 1
                }
                guard isFirst else { return }
                begun.give()
                await mayEnd.wait()
            })
        try await app.signOut()
        busy.signIn(as: "zoë")
        let first = busy.received(Data([1]))
        await begun.wait()
        let second = Task { await busy.refresh(isRequested: true) }
        while !busy.hasRequest { await Task.yield() }
        mayEnd.give()
        _ = await (first.value, second.value)
        #expect(uploads.withLock { $0.count } == 2)
    }

    /// A failed upload is repeated with the same key.
    @Test("the app reports a failed upload, and uploads with the same key until the server accepts it")
    func uploadsUntilItSucceeds() async throws {
        let app = try await app()
        isOnline.withLock { $0 = false }
        for _ in 0..<2 { #expect(await app.received(Data([1])).value == nil) }
        #expect(errors.withLock { $0.allSatisfy { $0 is Offline } && $0.count == 2 })
        let kids = try appGroup().keyring.keyIDs()
        isOnline.withLock { $0 = true }
        #expect(await app.refresh()?.isUploaded == true)
        #expect(uploads.withLock { $0.map(\.kid) } == kids)
        let push = try device().request(PushNotification(title: "Zoë"), sealer: sealer)
        #expect(try await deliver(push.body) == ("Zoë", nil))
    }

    @Test("an app without the entitlement reports it once at the start, and its other calls do nothing")
    func notEntitled() async throws {
        let app = PushCrypt.start(
            try AppGroup("group.com.example.none"), configuration: sharedConfiguration,
            report: { [errors] error in errors.withLock { $0.append(error) } }, upload: { _ in })
        _ = await app.signIn(as: "zoë").value
        #expect(await app.received(Data([1])).value == nil)
        #expect(await app.open(["aps": ["alert": "x"]]) == nil)
        try await app.signOut()
        #expect(errors.withLock { $0.map { ($0 as? ExtensionSetupError)?.code } } == [.notEntitled])
        let report = String(decoding: try await app.deviceReport().json(), as: UTF8.self)
        #expect(
            report.contains(#""keyStorage":{"error":"notEntitled""#) && report.contains(#""topic":"com.example.app""#))
        #expect(app.registration == nil)
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
                NotificationService().didReceive(request) { continuation.resume(returning: Shown(content: $0)) }
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
        let actions = Actions()
        let conversations = Conversations(
            open: { actions.add("open \($0)") }, send: { actions.add("reply \($0) \($1)") })
        let app = try await app(responder: conversations)
        _ = await app.received(Data([1])).value
        let delegate = try Self.delegate()
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

        Conversations.registerCategories()
        let categories = await SystemNotifications().categories()
        #expect(categories.map(\.id) == ["MESSAGE"] && categories.first?.actions.map(\.id) == ["REPLY"])

        var presented: [Bool] = []
        for (chat, notification) in [(String?.none, restored), ("c1", restored), ("c2", restored), ("c1", forged)] {
            conversations.current = chat
            presented.append(await !presentation(of: notification, delegate).isEmpty)
        }
        #expect(presented == [true, false, true, true])
    }

    @Test(
        "a tap on a plain push opens its conversation in an app that still shows plain pushes, and not in another one")
    func plainPushes() async throws {
        for isShown in [true, false] {
            let actions = Actions()
            let conversations = Conversations(open: { actions.add("open \($0)") }, send: { _, _ in })
            let app = PushCrypt.start(
                try appGroup(),
                configuration: { group in
                    var configuration = try sharedConfiguration(group)
                    if isShown { configuration.unsealed = .shown }
                    return configuration
                }, responder: conversations, upload: { _ in })
            let plain = try await notification(Data(#"{"aps":{"alert":"x"},"chat":"c1"}"#.utf8), restored: false)
            await respond(
                UNNotificationResponse(
                    stubNotification: plain, actionIdentifier: UNNotificationDefaultActionIdentifier),
                try Self.delegate())
            #expect(actions.list.withLock { $0 } == (isShown ? ["open c1"] : []))
            #expect(app.registration != nil)
        }
    }

    private static func delegate() throws -> PushCryptNotificationDelegate {
        try #require(UNUserNotificationCenter.current().delegate as? PushCryptNotificationDelegate)
    }

    private func presentation(
        of notification: UNNotification, _ delegate: PushCryptNotificationDelegate
    ) async -> UNNotificationPresentationOptions {
        await withCheckedContinuation { continuation in
            delegate.userNotificationCenter(.current(), willPresent: notification) {
                continuation.resume(returning: $0)
            }
        }
    }

    @Test(
        "a push that the app receives itself, such as one of PushKit, opens with the app's keys, and a forged one doesn't"
    )
    func callPush() async throws {
        let app = try await app()
        _ = await app.received(Data([1])).value
        let push = try device().request(PushNotification(title: "Zoë", custom: ["call": "c1"]), sealer: sealer)
        #expect(try opened(Self.content(push.body).userInfo)["call"] as? String == "c1")
        #expect(throws: FailureClass.notSealed) { try opened(["aps": ["alert": "x"]]) }
    }

    @Test("a silent push gives the app its payload once, and a forged one nothing")
    func silentPush() async throws {
        let app = RunningApp(hasScenes: true)
        app.received(Data([1]))
        _ = await app.delegate.pushes.signIn(as: "zoë").value
        let record = try #require(Backend.uploads.withLock { $0.last })
        let push = try RegisteredDevice(deviceToken: record.deviceToken, record: record.record).request(
            PushNotification(title: "Zoë", isContentAvailable: true, custom: ["chat": "c1"]), sealer: sealer)
        let userInfo = try Self.content(push.body).userInfo
        #expect(await app.delegate.pushes.open(userInfo)?["chat"] as? String == "c1")
        #expect(await app.delegate.pushes.open(userInfo) == nil)
        #expect(await app.delegate.pushes.open(["aps": ["alert": "x"], "chat": "c1"]) == nil)
        // The backend has lost the row.
        let count = Backend.uploads.withLock { $0.count }
        await app.received(["aps": ["content-available": 1]])
        #expect(Backend.uploads.withLock { $0.count } == count)
        await app.received(["aps": ["content-available": 1], "register": true])
        #expect(Backend.uploads.withLock { $0.count } == count + 1)
        try await app.delegate.pushes.signOut()
    }

    @Test(
        "when the app becomes active, a placeholder is replaced by its message, and an expired notification is removed")
    func becomesActive() async throws {
        let app = try await app()
        _ = await app.received(Data([1])).value
        let center = UNUserNotificationCenter.current()
        defer { center.stubDelivered = [] }
        let push = try device().request(PushNotification(title: "Zoë"), sealer: sealer)
        center.stubDelivered = [try await notification(push.body, restored: false).request]
        _ = await app.refresh()
        #expect(center.stubDelivered.map(\.content.title) == ["Zoë"])
        let opened = UNNotification(stubRequest: try #require(center.stubDelivered.first))
        #expect(try await presentation(of: opened, Self.delegate()) == .list)

        let group = try appGroup()
        try await group.removeDueNotifications(at: .now + 86_400 * 60)
        #expect(center.stubDelivered.isEmpty)

        try await group.setBadge(12_000)
        #expect(center.stubBadge == 9_999)
        #expect(try group.store(.app).badge() == 9_999)
    }

    @Test("an app with scenes and one without them open a placeholder each time they become active")
    func lifeCycles() async throws {
        _ = try await app().received(Data([1])).value
        let center = UNUserNotificationCenter.current()
        defer { center.stubDelivered = [] }
        for hasScenes in [true, false] {
            let app = RunningApp(hasScenes: hasScenes)
            for title in ["Zoë", "Amara"] {
                let push = try device().request(PushNotification(title: title), sealer: sealer)
                center.stubDelivered = [try await notification(push.body, restored: false).request]
                await app.becomeActive()
                #expect(center.stubDelivered.map(\.content.title) == [title])
            }
        }
    }
}
