import Foundation
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

/// A keyring that is locked until the test unlocks it.
private struct LockableKeyring: RecipientKeyring {
    let isLocked = Locked(true)
    let inner: KeysetKeyring

    func key(_ kid: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        guard !isLocked.withLock({ $0 }) else { throw .keyLocked }
        return try inner.key(kid, at: time)
    }
}

/// An app's delegate, which remembers what it gets.
@MainActor private final class Responder: NotificationResponder {
    var seen: [ReceivedNotification] = []
    var responses: [ReceivedResponse] = []
    let settings = AsyncStream<ReceivedNotification?>.makeStream()

    func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
        seen.append(notification)
        return notification.restored == nil ? [] : [.banner, .list, .sound, .badge]
    }

    func received(_ response: ReceivedResponse) async { responses.append(response) }
    func openSettings(from notification: ReceivedNotification?) async { settings.continuation.yield(notification) }
}

extension ReceivedNotification {
    fileprivate var restored: Restored? { if case .restored(let restored) = self { restored } else { nil } }
    fileprivate var request: NotificationRequest? { if case .local(let request) = self { request } else { nil } }
}

extension PushCryptNotificationDelegate {
    fileprivate func respond(_ response: UNNotificationResponse, _ center: UNUserNotificationCenter) async {
        await withCheckedContinuation { continuation in
            userNotificationCenter(center, didReceive: response) { continuation.resume() }
        }
    }
}

/// What the app opens that the extension couldn't.
@MainActor @Suite struct KeptNotificationsTests {
    private let channel: Channel
    private let keyring: LockableKeyring
    private let folder: TemporaryFolder
    private let center = UNUserNotificationCenter(stub: ())
    private let time = Locked(Channel.now)

    init() throws {
        channel = try Channel(.p256, signed: true)
        keyring = LockableKeyring(inner: try channel.keyring)
        folder = try TemporaryFolder()
    }

    private func configuration() throws -> ExtensionConfiguration {
        var configuration = try ExtensionConfiguration(
            topic: Channel.topic, keyring: keyring, senders: channel.senders, fallback: Channel.fallback)
        configuration.clock = { [time] in time.withLock { $0 } }
        configuration.timer = ManualTimer()
        configuration.store = store(.extension)
        return configuration
    }

    private func store(_ role: SharedStore.Role) -> SharedStore {
        SharedStore(folder: folder.path + "/store", role: role)
    }

    private func setLocked(_ isLocked: Bool) { keyring.isLocked.withLock { $0 = isLocked } }
    private func setTime(_ time: UnixTime) { self.time.withLock { $0 = time } }

    /// Delivers a push to the extension and puts its notification on the screen.
    @discardableResult
    private func deliver(_ payload: [UInt8]) async throws -> UNNotificationContent {
        let service = TestService { [self] in try configuration() }
        let content = await (try service.receive(payload)).content()
        center.stubDelivered.append(
            UNNotificationRequest(identifier: "1", content: content, trigger: UNPushNotificationTrigger(stub: ())))
        return content
    }

    /// Delivers a push while the device is locked, and unlocks it.
    @discardableResult
    private func deliverLocked(_ json: String = json) async throws -> [UInt8] {
        setLocked(true)
        let payload = try channel.seal(json)
        try await deliver(payload)
        setLocked(false)
        return payload
    }

    private var verifier: NotificationVerifier { NotificationVerifier(store: store(.app)) { Channel.now } }

    private func kept(_ change: (inout ExtensionConfiguration) -> Void = { _ in }) throws -> KeptNotifications {
        var configuration = try configuration()
        change(&configuration)
        return KeptNotifications(configuration, inSystem: SystemNotifications(center))
    }

    private func received(_ request: UNNotificationRequest) async -> ReceivedNotification {
        await verifier.received(DeliveredNotification(UNNotification(stubRequest: request), nil))
    }

    private static let json = #"{"aps":{"alert":{"title":"Zoë","body":"Hi"},"badge":2},"n":1.5}"#

    @Test func `a locked device's placeholder is replaced by its message once the keys can be read`() async throws {
        #expect(try await deliver(channel.seal(Self.json)).title == "New message")
        #expect(await received(center.stubDelivered[0]) == .unverified(.init(requestID: "1", reason: .sealed)))
        let kept = try kept()
        #expect(await kept.open().map(\.failure) == [.keyLocked])
        #expect(center.stubDelivered.map(\.identifier) == ["1"])
        setLocked(false)
        let outcomes = await kept.open()
        #expect(outcomes.map(\.failure) == [nil] && outcomes.map(\.requestID) == ["1-opened"])
        #expect(outcomes.first?.content?.body.literal == "Hi")
        #expect(center.stubDelivered.map(\.identifier) == ["1-opened"])
        let shown = try #require(center.stubDelivered.first)
        #expect(shown.content.title == "Zoë" && shown.content.badge == 2)
        let restored = try #require(await received(shown).restored)
        #expect(String(decoding: restored.payload, as: UTF8.self).contains(#""n":1.5"#))
        #expect(await kept.open().isEmpty)
    }

    @Test func `a message that the app opened isn't shown again by the extension`() async throws {
        let payload = try await deliverLocked()
        _ = try await kept().open()
        #expect(try await deliver(payload).body == "")
        #expect(center.stubDelivered.map(\.content.title) == ["Zoë", "New message"])
    }

    @Test func `a placeholder stays if its message can't be shown, and the next call shows it`() async throws {
        try await deliverLocked()
        center.stubError = CocoaError(.featureUnsupported)
        let kept = try kept()
        let outcomes = await kept.open()
        #expect(outcomes.map(\.requestID) == [nil] && outcomes.map(\.failure) == [.internalError])
        #expect(center.stubDelivered.map(\.identifier) == ["1"])
        center.stubError = nil
        #expect(await kept.open().map(\.requestID) == ["1-opened"])
        #expect(center.stubDelivered.map(\.content.title) == ["Zoë"])
    }

    private struct Stage: ContentStage {
        let change: @Sendable (inout NotificationContent) -> Void

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = content
            change(&content)
            return content
        }
    }

    @Test func `an attachment that the system refuses is left out, and the message is shown`() async throws {
        try await deliverLocked()
        let stage = Stage { $0.attachments = [.init(identifier: "photo", path: "/none/a.png", type: .png)] }
        let outcomes = try await kept { $0.stages = [stage] }.open()
        #expect(outcomes.map(\.failure) == [.attachmentFailed] && outcomes.first?.content?.attachments == [])
        #expect(center.stubDelivered.map(\.content.title) == ["Zoë"])
    }

    @Test func `a message that a stage suppresses removes its placeholder and shows nothing`() async throws {
        try await deliverLocked()
        let kept = try kept {
            $0.hasFilteringEntitlement = true
            $0.stages = [Stage { $0.isSuppressed = true }]
        }
        let outcomes = await kept.open()
        #expect(outcomes.map(\.isRemoved) == [true] && outcomes.map(\.requestID) == [nil])
        #expect(center.stubDelivered.isEmpty)
    }

    @Test func `a key without a literal text is looked up in the app's strings`() async throws {
        try await deliverLocked(#"{"aps":{"alert":{"title-loc-key":"NEW","loc-key":"none"}}}"#)
        _ = try await kept { $0.strings = ["NEW": "Neu"] }.open()
        #expect(center.stubDelivered.map(\.content.title) == ["Neu"])
    }

    @Test func `two calls at once show the message once, and a retraction removes it`() async throws {
        for number in 0..<8 {
            try await deliverLocked()
            let kept = try kept()
            async let first = kept.open()
            async let second = kept.open()
            let failures = await (first + second).map(\.failure)
            #expect(failures.filter { $0 == nil }.count == 1, "round \(number)")
            #expect(center.stubDelivered.map(\.identifier) == ["1-opened"])
            // The store still knows which notification shows the message.
            try store(.app).sweep(SystemNotifications(center), at: Channel.now + 86_400 * 60)
            #expect(center.stubDelivered.isEmpty)
        }
    }

    @Test func `an expired message removes its placeholder, and one that was shown meanwhile doesn't`() async throws {
        let payload = try await deliverLocked()
        setTime(Channel.now + 86_400 * 60)
        let outcomes = try await kept().open()
        #expect(outcomes.map(\.failure) == [.expired] && outcomes.map(\.isRemoved) == [true])
        #expect(center.stubDelivered.isEmpty)

        setTime(Channel.now)
        setLocked(true)
        try await deliver(payload)
        setLocked(false)
        let service = TestService { [self] in try configuration() }
        _ = await (try service.receive(payload)).content()
        #expect(try await kept().open().map(\.failure) == [.replayed])
        #expect(center.stubDelivered.map(\.identifier) == ["1"])
    }

    @Test func `a placeholder that can't be opened is tried again, and counted once`() async throws {
        try await deliver(channel.seal(Self.json))
        for _ in 0..<3 { #expect(try await kept().open().map(\.failure) == [.keyLocked]) }
        #expect(try store(.app).statistics().failures[.keyLocked]?.count == 1)
        setLocked(false)
        #expect(try await kept().open().map(\.failure) == [nil])
        #expect(try store(.app).statistics().opened?.count == 1)
    }

    @Test func `a tapped placeholder is restored for the app, once, and shows nothing`() async throws {
        try await deliverLocked()
        let placeholder = DeliveredNotification(UNNotification(stubRequest: center.stubDelivered[0]), nil)
        // The system has removed it.
        center.stubDelivered = []
        let kept = try kept()
        let restored = try #require(await kept.restored(placeholder))
        #expect(String(decoding: restored.payload, as: UTF8.self).contains(#""n":1.5"#))
        #expect(restored.requestID == "1" && restored.messageID.utf8.count == 22)
        #expect(await kept.restored(placeholder) == nil)
        #expect(center.stubDelivered.isEmpty)
    }

    @Test func `a tapped placeholder that can't be opened yet is shown by a later call, once`() async throws {
        try await deliver(channel.seal(Self.json))
        let placeholder = DeliveredNotification(UNNotification(stubRequest: center.stubDelivered[0]), nil)
        center.stubDelivered = []
        let kept = try kept()
        for _ in 1...2 { #expect(await kept.restored(placeholder) == nil) }
        #expect(await kept.open().map(\.failure) == [.keyLocked])
        setLocked(false)
        #expect(await kept.open().map(\.requestID) == ["1-opened"])
        #expect(center.stubDelivered.map(\.content.title) == ["Zoë"])
        center.stubDelivered = []
        #expect(await kept.open().isEmpty)
    }

    @Test(
        "the delegate gives the app the message of a tapped placeholder, and none of a dismissed one",
        arguments: [(UNNotificationDismissActionIdentifier, false), (UNNotificationDefaultActionIdentifier, true)])
    func tappedForDelegate(_ action: String, _ isRestored: Bool) async throws {
        try await deliverLocked()
        let responder = Responder()
        let delegate = PushCryptNotificationDelegate(verifier, responder, kept: try kept())
        await delegate.respond(
            UNNotificationResponse(
                stubNotification: UNNotification(stubRequest: center.stubDelivered[0]), actionIdentifier: action),
            center)
        #expect((responder.responses.first?.notification.restored != nil) == isRestored)
    }

    @Test func `a forged placeholder stays, and restored and other notifications aren't touched`() async throws {
        setLocked(false)
        try await deliver(channel.seal(Self.json))
        let other = try Channel(.p256)
        for (name, payload) in [("forged", try other.seal(Self.json)), ("plain", Array(#"{"a":1}"#.utf8))] {
            let content = try Channel.request(payload).content
            center.stubDelivered.append(
                UNNotificationRequest(identifier: name, content: content, trigger: UNPushNotificationTrigger(stub: ())))
        }
        let outcomes = try await kept().open()
        #expect(outcomes.map(\.placeholderID) == ["forged"] && outcomes.map(\.failure) == [.unknownKey])
        #expect(center.stubDelivered.map(\.identifier) == ["1", "forged", "plain"])
    }
}

@MainActor @Suite struct NotificationDelegateTests {
    private let channel: Channel
    private let folder: TemporaryFolder
    private let responder = Responder()
    private let center = UNUserNotificationCenter(stub: ())

    init() throws {
        channel = try Channel()
        folder = try TemporaryFolder()
    }

    private func delegate(store: String = "store") -> PushCryptNotificationDelegate {
        PushCryptNotificationDelegate(
            NotificationVerifier(store: SharedStore(folder: "\(folder.path)/\(store)", role: .app)) { Channel.now },
            responder, kept: nil, regions: .stub)
    }

    private func restored() async throws -> UNNotification {
        let service = TestService { [channel, folder] in
            try channel.configuration { $0.store = SharedStore(folder: folder.path + "/store", role: .extension) }
        }
        let json = #"{"aps":{"alert":"x"},"list":[1,1.0,2.50,true,null,"é/\u0000"],"big":18446744073709551615}"#
        return notification(await (try service.receive(channel.seal(json))).content())
    }

    private func notification(
        _ content: UNNotificationContent, id: String = "1",
        _ trigger: UNNotificationTrigger? = UNPushNotificationTrigger(stub: ())
    ) -> UNNotification {
        UNNotification(stubRequest: UNNotificationRequest(identifier: id, content: content, trigger: trigger))
    }

    private func options(
        _ notification: UNNotification, _ delegate: PushCryptNotificationDelegate? = nil
    ) async -> UNNotificationPresentationOptions {
        let delegate = delegate ?? self.delegate()
        return await withCheckedContinuation { continuation in
            delegate.userNotificationCenter(center, willPresent: notification) { continuation.resume(returning: $0) }
        }
    }

    @Test func `the responder sees the region of a notification that the app has scheduled for it`() async throws {
        let trigger = StubLocationTrigger(identifier: "r", center: (1, 2), radius: 100, repeats: true)
        _ = await options(notification(UNNotificationContent(), trigger))
        let seen = try #require(responder.seen.first?.request)
        #expect(seen.trigger == .location(.init(id: "r", latitude: 1, longitude: 2, radius: 100), repeats: true))
    }

    @Test func `the app's settings are opened from the Settings app and from a notification`() async throws {
        let delegate = delegate()
        delegate.userNotificationCenter(center, openSettingsFor: nil)
        delegate.userNotificationCenter(center, openSettingsFor: try await restored())
        var asked = responder.settings.stream.makeAsyncIterator()
        #expect(await asked.next() == .some(nil))
        let notification = try #require(await asked.next())
        #expect(notification?.restored != nil)
    }

    @Test func `a restored notification is presented as verified, with its payload`() async throws {
        let notification = try await restored()
        #expect(await options(notification) == [.banner, .list, .sound, .badge])
        let restored = try #require(responder.seen.first?.restored)
        #expect(restored.requestID == "1" && restored.messageID.utf8.count == 22)
        #expect(restored.payload == UserInfoJSON.json(notification.request.content.userInfo))
    }

    @Test(
        "a push that the extension didn't restore is unverified, with its reason, and its content isn't given to the app",
        arguments: [
            (nil, ReceivedNotification.Reason.sealed),
            (#"{"pushcrypt":{"status":"failed","reason":"unknownKey"}}"#, .placeholder),
            (#"{"aps":{"alert":"x"},"list":[1]}"#, .unsealed), (#"{"pushcrypt":{"status":"opened"}}"#, .unknown),
        ])
    func unverified(_ json: String?, _ reason: ReceivedNotification.Reason) async throws {
        let payload = try json.map { Array($0.utf8) } ?? channel.seal(#"{"aps":{"alert":"x"}}"#)
        #expect(await options(notification(try Channel.request(payload).content)) == [])
        #expect(responder.seen.last == .unverified(.init(requestID: "1", reason: reason)))
    }

    @Test func `the same userInfo under another name is unverified`() async throws {
        #expect(await options(notification(try await restored().request.content, id: "2")) == [])
        #expect(responder.seen == [.unverified(.init(requestID: "2", reason: .unsealed))])
    }

    @Test func `a notification of the app itself is local`() async throws {
        _ = await options(notification(UNMutableNotificationContent(), nil))
        let request = try #require(responder.seen.first?.request)
        #expect(request.id == "1" && request.trigger == nil)
    }

    @Test func `if the store can't be read, the notification is unverified and says so`() async throws {
        _ = await options(try await restored(), delegate(store: "none/store"))
        #expect(responder.seen == [.unverified(.init(requestID: "1", reason: .storeUnavailable))])
    }

    @Test func `the app gets taps, dismissals, actions and texts with the verified notification`() async throws {
        let (notification, delegate) = (try await restored(), delegate())
        for id in [UNNotificationDefaultActionIdentifier, UNNotificationDismissActionIdentifier, "PAY"] {
            await delegate.respond(UNNotificationResponse(stubNotification: notification, actionIdentifier: id), center)
        }
        await delegate.respond(
            UNTextInputNotificationResponse(stubNotification: notification, actionIdentifier: "REPLY", userText: "Hi"),
            center)
        #expect(responder.responses.map(\.action) == [.open, .dismiss, .custom("PAY"), .custom("REPLY")])
        #expect(responder.responses.map(\.text) == [nil, nil, nil, "Hi"])
        #expect(responder.responses.allSatisfy { $0.notification.restored != nil })
    }

    @Test func `the app opens the userInfo of a push once`() async throws {
        let request = try Channel.request(
            channel.seal(#"{"aps":{"alert":"x","content-available":1},"n":1}"#, exposed: ["content-available"]))
        let opener = try channel.configuration().opener
        let store = SharedStore(folder: folder.path + "/store", role: .app)
        let opened = await opener.claiming(userInfo: request.content.userInfo, in: store, at: Channel.now)
        #expect(try opened.get().messageID.utf8.count == 22)
        let again = await opener.claiming(userInfo: request.content.userInfo, in: store, at: Channel.now)
        #expect(throws: FailureClass.replayed) { try again.get() }
    }
}
