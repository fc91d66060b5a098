import Foundation
import PushCryptCore
import PushCryptExtension
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
        let store = store(.extension)
        return try channel.configuration { [keyring, channel, time] in
            $0 = try! ExtensionConfiguration(
                topic: Channel.topic, keyring: keyring, senders: channel.senders, fallback: Channel.fallback)
            $0.clock = { time.withLock { $0 } }
            $0.timer = ManualTimer()
            $0.store = store
        }
    }

    private func store(_ role: SharedStore.Role) -> SharedStore {
        SharedStore(folder: folder.path + "/store", role: role)
    }

    /// Delivers a push to the extension and puts its notification on the screen.
    @discardableResult
    private func deliver(_ payload: [UInt8]) async throws -> UNNotificationContent {
        let service = TestService { [self] in try configuration() }
        let content = await (try service.receive(payload)).content()
        center.stubDelivered.append(
            UNNotificationRequest(identifier: "1", content: content, trigger: UNPushNotificationTrigger(stub: ())))
        return content
    }

    private var verifier: NotificationVerifier {
        NotificationVerifier(store: SharedStore(folder: folder.path + "/store", role: .app)) { Channel.now }
    }

    private func kept(_ configuration: ExtensionConfiguration) -> KeptNotifications {
        KeptNotifications(configuration, inSystem: SystemNotifications(center))
    }

    private func received(_ request: UNNotificationRequest) async -> ReceivedNotification {
        await verifier.received(DeliveredNotification(UNNotification(stubRequest: request), nil))
    }

    private static let json = #"{"aps":{"alert":{"title":"Zoë","body":"Hi"},"badge":2},"n":1.5}"#

    @Test("a placeholder of a locked device is replaced by the restored notification once the keys can be read")
    func unlocked() async throws {
        let placeholder = try await deliver(channel.seal(Self.json))
        #expect(placeholder.title == "New message")
        #expect(await received(center.stubDelivered[0]) == .unverified(.init(requestID: "1", reason: .sealed)))
        let kept = kept(try configuration())
        #expect(await kept.open().map(\.failure) == [.keyLocked])
        #expect(center.stubDelivered.map(\.identifier) == ["1"])
        keyring.isLocked.withLock { $0 = false }
        let outcomes = await kept.open()
        #expect(outcomes.map(\.failure) == [nil])
        #expect(outcomes.map(\.requestID) == ["1-opened"])
        #expect(outcomes.first?.content?.body.literal == "Hi")
        #expect(center.stubDelivered.map(\.identifier) == ["1-opened"])
        let shown = try #require(center.stubDelivered.first)
        #expect(shown.content.title == "Zoë" && shown.content.badge == 2)
        guard case .restored(let restored) = await received(shown) else {
            Issue.record("the replacing notification isn't verified")
            return
        }
        #expect(String(decoding: restored.payload, as: UTF8.self).contains(#""n":1.5"#))
        #expect(await kept.open().isEmpty)
    }

    @Test("a message that the app opened isn't shown again by the extension")
    func replayed() async throws {
        let payload = try channel.seal(Self.json)
        try await deliver(payload)
        keyring.isLocked.withLock { $0 = false }
        _ = await kept(try configuration()).open()
        #expect(try await deliver(payload).body == "")
        #expect(center.stubDelivered.map(\.content.title) == ["Zoë", "New message"])
    }

    @Test("if the restored notification can't be shown, the placeholder stays, and the next call shows it")
    func notShown() async throws {
        try await deliver(channel.seal(Self.json))
        keyring.isLocked.withLock { $0 = false }
        center.stubError = CocoaError(.featureUnsupported)
        let kept = kept(try configuration())
        let outcomes = await kept.open()
        #expect(outcomes.map(\.requestID) == [nil] && outcomes.map(\.failure) == [.internalError])
        #expect(center.stubDelivered.map(\.identifier) == ["1"])
        center.stubError = nil
        #expect(await kept.open().map(\.requestID) == ["1-opened"])
        #expect(center.stubDelivered.map(\.content.title) == ["Zoë"])
    }

    /// Attaches a file that doesn't exist.
    private struct Attaching: ContentStage {
        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = content
            content.attachments = [.init(identifier: "photo", path: "/none/a.png", type: .png)]
            return content
        }
    }

    @Test("an attachment that the system refuses is left out, and the message is shown")
    func refusedAttachment() async throws {
        try await deliver(channel.seal(Self.json))
        keyring.isLocked.withLock { $0 = false }
        var configuration = try configuration()
        configuration.stages = [Attaching()]
        let outcomes = await kept(configuration).open()
        #expect(outcomes.map(\.failure) == [.attachmentFailed] && outcomes.first?.content?.attachments == [])
        #expect(center.stubDelivered.map(\.content.title) == ["Zoë"])
    }

    @Test("two calls at once show the message once, and a retraction removes it")
    func twoCalls() async throws {
        for number in 0..<8 {
            let payload = try channel.seal(Self.json)
            try await deliver(payload)
            keyring.isLocked.withLock { $0 = false }
            let kept = kept(try configuration())
            async let first = kept.open()
            async let second = kept.open()
            let failures = await (first + second).map(\.failure)
            #expect(failures.filter { $0 == nil }.count == 1, "round \(number)")
            #expect(center.stubDelivered.map(\.identifier) == ["1-opened"])
            // The store still knows which notification shows the message.
            time.withLock { $0 = Channel.now + 86_400 * 60 }
            try store(.app).sweep(SystemNotifications(center), at: time.withLock { $0 })
            #expect(center.stubDelivered.isEmpty)
            time.withLock { $0 = Channel.now }
            keyring.isLocked.withLock { $0 = true }
        }
    }

    @Test("a message that expired removes its placeholder, and one that was shown meanwhile doesn't")
    func finalFailures() async throws {
        let payload = try channel.seal(Self.json)
        try await deliver(payload)
        keyring.isLocked.withLock { $0 = false }
        time.withLock { $0 = Channel.now + 86_400 * 60 }
        let outcomes = await kept(try configuration()).open()
        #expect(outcomes.map(\.failure) == [.expired] && outcomes.map(\.isRemoved) == [true])
        #expect(center.stubDelivered.isEmpty)

        time.withLock { $0 = Channel.now }
        keyring.isLocked.withLock { $0 = true }
        try await deliver(payload)
        keyring.isLocked.withLock { $0 = false }
        let service = TestService { [self] in try configuration() }
        _ = await (try service.receive(payload)).content()
        #expect(await kept(try configuration()).open().map(\.failure) == [.replayed])
        #expect(center.stubDelivered.map(\.identifier) == ["1"])
    }

    @Test("a placeholder that can't be opened is tried again, and counted once")
    func countedOnce() async throws {
        try await deliver(channel.seal(Self.json))
        for _ in 0..<3 { #expect(await kept(try configuration()).open().map(\.failure) == [.keyLocked]) }
        #expect(try store(.app).statistics().failures[.keyLocked]?.count == 1)
        keyring.isLocked.withLock { $0 = false }
        #expect(await kept(try configuration()).open().map(\.failure) == [nil])
        #expect(try store(.app).statistics().opened?.count == 1)
    }

    private struct Suppressing: ContentStage {
        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = content
            content.isSuppressed = true
            return content
        }
    }

    @Test("a message that a stage suppresses removes its placeholder and shows nothing")
    func suppressed() async throws {
        try await deliver(channel.seal(Self.json))
        keyring.isLocked.withLock { $0 = false }
        var configuration = try configuration()
        configuration.hasFilteringEntitlement = true
        configuration.stages = [Suppressing()]
        let outcomes = await kept(configuration).open()
        #expect(outcomes.map(\.isRemoved) == [true] && outcomes.map(\.requestID) == [nil])
        #expect(center.stubDelivered.isEmpty)
    }

    @Test("a key without a literal text is looked up in the app's strings")
    func strings() async throws {
        try await deliver(channel.seal(#"{"aps":{"alert":{"title-loc-key":"NEW","loc-key":"none"}}}"#))
        keyring.isLocked.withLock { $0 = false }
        var configuration = try configuration()
        configuration.strings = ["NEW": "Neu"]
        _ = await kept(configuration).open()
        #expect(center.stubDelivered.map(\.content.title) == ["Neu"])
    }

    @Test("a tapped placeholder is restored for the app, once, and shows nothing")
    func tapped() async throws {
        try await deliver(channel.seal(Self.json))
        keyring.isLocked.withLock { $0 = false }
        let placeholder = DeliveredNotification(UNNotification(stubRequest: center.stubDelivered[0]), nil)
        // The system has removed it.
        center.stubDelivered = []
        let kept = kept(try configuration())
        let restored = try #require(await kept.restored(placeholder))
        #expect(String(decoding: restored.payload, as: UTF8.self).contains(#""n":1.5"#))
        #expect(restored.requestID == "1" && restored.messageID.utf8.count == 22)
        #expect(await kept.restored(placeholder) == nil)
        #expect(center.stubDelivered.isEmpty)
    }

    @Test("a tapped placeholder that can't be opened yet is shown by a later call, once")
    func tappedEarly() async throws {
        try await deliver(channel.seal(Self.json))
        let placeholder = DeliveredNotification(UNNotification(stubRequest: center.stubDelivered[0]), nil)
        center.stubDelivered = []
        let kept = kept(try configuration())
        #expect(await kept.restored(placeholder) == nil)
        #expect(await kept.restored(placeholder) == nil)
        #expect(await kept.open().map(\.failure) == [.keyLocked])
        keyring.isLocked.withLock { $0 = false }
        #expect(await kept.open().map(\.requestID) == ["1-opened"])
        #expect(center.stubDelivered.map(\.content.title) == ["Zoë"])
        center.stubDelivered = []
        #expect(await kept.open().isEmpty)
    }

    @MainActor private final class Responder: NotificationResponder {
        var responses: [ReceivedResponse] = []

        func received(_ response: ReceivedResponse) async { responses.append(response) }
    }

    @Test("the delegate gives the app the message of a tapped placeholder, and none of a dismissed one")
    func tappedForDelegate() async throws {
        for (action, isRestored) in [
            (UNNotificationDismissActionIdentifier, false), (UNNotificationDefaultActionIdentifier, true),
        ] {
            keyring.isLocked.withLock { $0 = true }
            center.stubDelivered = []
            try await deliver(channel.seal(Self.json))
            keyring.isLocked.withLock { $0 = false }
            let responder = Responder()
            let delegate = PushCryptNotificationDelegate(verifier, responder, kept: kept(try configuration()))
            let response = UNNotificationResponse(
                stubNotification: UNNotification(stubRequest: center.stubDelivered[0]), actionIdentifier: action)
            await withCheckedContinuation { continuation in
                delegate.userNotificationCenter(center, didReceive: response) { continuation.resume() }
            }
            guard case .restored = responder.responses.first?.notification else {
                #expect(!isRestored)
                continue
            }
            #expect(isRestored)
        }
    }

    @Test("a forged placeholder stays, and restored and other notifications aren't touched")
    func others() async throws {
        keyring.isLocked.withLock { $0 = false }
        try await deliver(channel.seal(Self.json))
        let other = try Channel(.p256)
        for (name, payload) in [("forged", try other.seal(Self.json)), ("plain", Array(#"{"a":1}"#.utf8))] {
            let content = try Channel.request(payload).content
            center.stubDelivered.append(
                UNNotificationRequest(identifier: name, content: content, trigger: UNPushNotificationTrigger(stub: ())))
        }
        let outcomes = await kept(try configuration()).open()
        #expect(outcomes.map(\.placeholderID) == ["forged"] && outcomes.map(\.failure) == [.unknownKey])
        #expect(center.stubDelivered.map(\.identifier) == ["1", "forged", "plain"])
    }
}

/// What the delegate hands the app.
@MainActor @Suite struct NotificationDelegateTests {
    @MainActor private final class Responder: NotificationResponder {
        var seen: [ReceivedNotification] = []
        var responses: [ReceivedResponse] = []

        func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
            seen.append(notification)
            if case .restored = notification { return [.banner, .list, .sound, .badge] }
            return []
        }

        func received(_ response: ReceivedResponse) async { responses.append(response) }

        let settings = AsyncStream<ReceivedNotification?>.makeStream()

        func openSettings(from notification: ReceivedNotification?) async { settings.continuation.yield(notification) }
    }

    private let channel: Channel
    private let folder: TemporaryFolder
    private let responder = Responder()
    private let delegate: PushCryptNotificationDelegate
    private let center = UNUserNotificationCenter(stub: ())

    init() throws {
        channel = try Channel()
        folder = try TemporaryFolder()
        delegate = PushCryptNotificationDelegate(
            NotificationVerifier(store: SharedStore(folder: folder.path + "/store", role: .app)) { Channel.now },
            responder, kept: nil, regions: .stub)
    }

    /// Restores a push in the extension.
    private func restored() async throws -> UNNotification {
        let service = TestService { [channel, folder] in
            try channel.configuration { $0.store = SharedStore(folder: folder.path + "/store", role: .extension) }
        }
        let json = #"{"aps":{"alert":"x"},"list":[1,1.0,2.50,true,null,"é/\u0000"],"big":18446744073709551615}"#
        return notification(await (try service.receive(channel.seal(json))).content())
    }

    private func notification(_ content: UNNotificationContent, isPush: Bool = true) -> UNNotification {
        let trigger = isPush ? UNPushNotificationTrigger(stub: ()) : nil
        return UNNotification(stubRequest: UNNotificationRequest(identifier: "1", content: content, trigger: trigger))
    }

    @Test("the responder sees the region of a notification that the app has scheduled for it")
    func region() async {
        let trigger = StubLocationTrigger(identifier: "r", center: (1, 2), radius: 100, repeats: true)
        let request = UNNotificationRequest(identifier: "1", content: UNNotificationContent(), trigger: trigger)
        _ = await options(UNNotification(stubRequest: request))
        guard case .local(let seen) = responder.seen.first else { return #expect(Bool(false), "\(responder.seen)") }
        #expect(seen.trigger == .location(.init(id: "r", latitude: 1, longitude: 2, radius: 100), repeats: true))
    }

    @Test("the responder is asked for the app's settings, from the Settings app and from a notification")
    func settings() async throws {
        delegate.userNotificationCenter(center, openSettingsFor: nil)
        delegate.userNotificationCenter(center, openSettingsFor: try await restored())
        var asked = responder.settings.stream.makeAsyncIterator()
        #expect(await asked.next() == .some(nil))
        guard case .some(.some(.restored)) = await asked.next() else { return #expect(Bool(false)) }
    }

    private func options(_ notification: UNNotification) async -> UNNotificationPresentationOptions {
        await withCheckedContinuation { continuation in
            delegate.userNotificationCenter(center, willPresent: notification) { continuation.resume(returning: $0) }
        }
    }

    private func respond(_ response: UNNotificationResponse) async {
        await withCheckedContinuation { continuation in
            delegate.userNotificationCenter(center, didReceive: response) { continuation.resume() }
        }
    }

    @Test("a restored notification is presented as verified, with its payload")
    func verified() async throws {
        let notification = try await restored()
        #expect(await options(notification) == [.banner, .list, .sound, .badge])
        guard case .restored(let restored) = responder.seen.first else {
            Issue.record("the notification isn't verified: \(responder.seen)")
            return
        }
        #expect(restored.requestID == "1" && restored.messageID.utf8.count == 22)
        #expect(restored.payload == UserInfoJSON.json(notification.request.content.userInfo))
    }

    @Test(
        "a push that the extension didn't restore is unverified, with its reason, and its content isn't given to the app"
    )
    func unverified() async throws {
        let sealed = String(decoding: try channel.seal(#"{"aps":{"alert":"x"}}"#), as: UTF8.self)
        for (json, reason) in [
            (sealed, ReceivedNotification.Reason.sealed),
            (#"{"pushcrypt":{"status":"failed","reason":"unknownKey"}}"#, .placeholder),
            (#"{"aps":{"alert":"x"},"list":[1]}"#, .unsealed), (#"{"pushcrypt":{"status":"opened"}}"#, .unknown),
        ] {
            let content = try Channel.request(Array(json.utf8)).content
            #expect(await options(notification(content)) == [])
            #expect(responder.seen.last == .unverified(.init(requestID: "1", reason: reason)))
        }
    }

    @Test("the same userInfo under another name is unverified")
    func otherName() async throws {
        let content = try await restored().request.content
        let request = UNNotificationRequest(
            identifier: "2", content: content, trigger: UNPushNotificationTrigger(stub: ()))
        #expect(await options(UNNotification(stubRequest: request)) == [])
        #expect(responder.seen == [.unverified(.init(requestID: "2", reason: .unsealed))])
    }

    @Test("a notification of the app itself is local")
    func local() async throws {
        _ = await options(notification(UNMutableNotificationContent(), isPush: false))
        guard case .local(let request) = responder.seen.first else {
            Issue.record("the notification isn't local: \(responder.seen)")
            return
        }
        #expect(request.id == "1" && request.trigger == nil)
    }

    @Test("if the store can't be read, the notification is unverified and says so")
    func noStore() async throws {
        let broken = PushCryptNotificationDelegate(
            NotificationVerifier(store: SharedStore(folder: folder.path + "/none/store", role: .app)) { Channel.now },
            responder, kept: nil)
        let notification = try await restored()
        await withCheckedContinuation { continuation in
            broken.userNotificationCenter(center, willPresent: notification) { _ in continuation.resume() }
        }
        #expect(responder.seen == [.unverified(.init(requestID: "1", reason: .storeUnavailable))])
    }

    @Test("taps, dismissals, actions and entered text are given to the app with the verified notification")
    func responses() async throws {
        let notification = try await restored()
        for identifier in [UNNotificationDefaultActionIdentifier, UNNotificationDismissActionIdentifier, "PAY"] {
            await respond(UNNotificationResponse(stubNotification: notification, actionIdentifier: identifier))
        }
        await respond(
            UNTextInputNotificationResponse(stubNotification: notification, actionIdentifier: "REPLY", userText: "Hi"))
        #expect(responder.responses.map(\.action) == [.open, .dismiss, .custom("PAY"), .custom("REPLY")])
        #expect(responder.responses.map(\.text) == [nil, nil, nil, "Hi"])
        for response in responder.responses {
            guard case .restored = response.notification else {
                Issue.record("the notification isn't verified")
                continue
            }
        }
    }

    @Test("the app opens the userInfo of a push once")
    func silent() async throws {
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
