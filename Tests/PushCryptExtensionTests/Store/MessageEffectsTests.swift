import Foundation
import PushCryptSQLite
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The changes that a claim makes to other notifications and to the badge.
@Suite struct MessageEffectsTests {
    private let folder = StoreFolder()
    private var store: SharedStore { folder.first }
    private let now = StoreFolder.now

    /// - Parameter requestID: the name of the message's notification.
    private func stamp(
        _ id: String, _ requestID: String? = nil, retracting names: [String] = [],
        badge: MessageEffects.BadgeChange? = nil, issuedAt: UnixTime = StoreFolder.now, profile: UInt8 = 2
    ) -> MessageStamp {
        var stamp = MessageStamp(name: id, issuedAt: issuedAt, expiresAt: issuedAt + 3_600)
        stamp.effects = MessageEffects(retractedNames: names, badge: badge)
        (stamp.profile, stamp.requestID) = (profile, requestID)
        return stamp
    }

    @discardableResult
    private func claim(_ stamp: MessageStamp, after seconds: Int64 = 0) throws -> ClaimAnswer {
        try store.claimInFile(stamp, at: now.seconds + seconds)
    }

    private func record(_ message: MessageStamp, isShown: Bool = true) throws -> RecordAnswer {
        var record = DeliveryRecord(claim: isShown ? message.claim : nil, isShown: isShown)
        record.message = message
        return try store.record(record)
    }

    @Test("a retraction returns the notification of its message, and the message is refused afterwards")
    func retractsShown() throws {
        #expect(try claim(stamp("a", "A")).refusal == nil)
        let answer = try claim(stamp("r", "R", retracting: ["a"]))
        #expect(answer.refusal == nil && answer.dueRequestIDs == ["A"])
        #expect(try record(stamp("a"), isShown: false).isRetracted)
        #expect(try claim(stamp("a", "A2"), after: 120).refusal == .retracted)
    }

    @Test("a message that was retracted before it came is refused, and its effects are applied once")
    func retractedEarly() throws {
        try claim(stamp("b", "B"))
        try claim(stamp("r", retracting: ["a"]))
        let late = stamp("a", retracting: ["b"], badge: .add(2))
        let answer = try claim(late)
        #expect(answer.refusal == .retracted && answer.dueRequestIDs == ["B"])
        #expect(try claim(late, after: 120).refusal == .retracted)
        #expect(try store.badge() == 2)
    }

    @Test(
        "a retraction acts only on messages whose profile bits are among its own",
        arguments: [(1, 1, true), (1, 3, true), (2, 1, false), (3, 2, false), (0, 2, true)] as [(UInt8, UInt8, Bool)])
    func profiles(_ message: UInt8, _ retraction: UInt8, _ acts: Bool) throws {
        try claim(stamp("a", "A", profile: message))
        let answer = try claim(stamp("r", retracting: ["a"], profile: retraction))
        #expect(answer.dueRequestIDs == (acts ? ["A"] : []))
        #expect(try claim(stamp("a", profile: message), after: 120).refusal == (acts ? .retracted : nil))
    }

    @Test("an increment counts once although its claim is released, has lapsed and is granted again")
    func onceForAnID() throws {
        let message = stamp("a", badge: .add(3))
        #expect(try claim(message).badge == 3)
        try store.release(message.claim)
        #expect(try claim(stamp("a", badge: .add(3))).refusal == nil)
        #expect(try claim(stamp("a", badge: .add(3)), after: 60).refusal == nil)
        #expect(try store.badge() == 3)
    }

    @Test("a badge is clamped, an older absolute one is ignored, and the app sets it")
    func badge() throws {
        #expect(try claim(stamp("a", badge: .set(10_000), issuedAt: now + 5)).badge == 9_999)
        #expect(try claim(stamp("b", badge: .set(1))).badge == 9_999)
        #expect(try claim(stamp("c", badge: .set(4), issuedAt: now + 5)).badge == 4)
        #expect(try claim(stamp("d", badge: .add(-9))).badge == 0)
        try folder.store(.app).setBadge(70)
        #expect(try claim(stamp("e", badge: .add(1))).badge == 71)
        #expect(try folder.store(.app).badge() == 71)
    }

    @Test("the app's role applies no effect")
    func appRole() throws {
        let message = stamp("a", "A", retracting: ["b"], badge: .add(1))
        let answer = try folder.store(.app).claimInFile(message, at: now.seconds)
        #expect(answer.refusal == nil && answer.badge == nil)
        #expect(try store.badge() == 0)
        #expect(try claim(stamp("b")).refusal == nil)
    }

    /// A session whose claim is late shows its message, and its record may be written before its claim.
    @Test("effects of a message that is recorded before its claim are applied once", arguments: [false, true])
    func recordedBeforeItsClaim(_ isFileBroken: Bool) throws {
        try claim(stamp("old", "OLD"))
        let message = stamp("a", "A", retracting: ["old"], badge: .add(2))
        if isFileBroken {
            try store.unwritten.markSeen(message.claim, message)
        } else {
            #expect(try record(message).badge == 2)
        }
        let late = try claim(message, after: 1)
        #expect(late.refusal == .replayed && late.dueRequestIDs == ["OLD"])
        #expect(try store.badge() == 2)
        #expect(try claim(stamp("a", badge: .add(2)), after: 120).refusal == .replayed)
        #expect(try store.badge() == 2)
    }

    @Test("a message that two processes have shown, one without the store, is removed under both names")
    func shownTwice() throws {
        try claim(stamp("a", "A"))
        #expect(try record(stamp("a", "B")).isRetracted == false)
        #expect(try claim(stamp("r", "R", retracting: ["a"])).dueRequestIDs == ["A", "B"])
    }

    @Test("a sweep removes the notifications of expired messages, and forgets them")
    func sweep() throws {
        try claim(stamp("a", "A"))
        try claim(stamp("b", "B", issuedAt: now + 60))
        let (app, screen) = (folder.store(.app), RecordingScreen())
        try app.sweep(screen, at: now + 3_599)
        #expect(screen.removed == [])
        try app.sweep(screen, at: now + 3_600)
        try app.sweep(screen, at: now + 3_601)
        #expect(screen.removed == ["A"])
    }

    @Test("512 notifications are known, and a later message of the same name replaces the earlier one")
    func shownLimit() throws {
        for number in 0..<513 { try claim(stamp("m\(number)", "R\(number)")) }
        try claim(stamp("n", "R512"))
        #expect(try claim(stamp("r", retracting: ["m0", "m1", "m512"])).dueRequestIDs == ["R1"])
    }

    @Test("a notification whose name was given to a placeholder isn't removed with the message that it showed")
    func replaced() throws {
        try claim(stamp("a", "A"))
        var record = DeliveryRecord()
        record.replacedRequestID = "A"
        _ = try store.record(record)
        #expect(try claim(stamp("r", retracting: ["a"])).dueRequestIDs == [])
    }

    @Test("over the limit the oldest retraction is forgotten, and messages of its age or older are refused")
    func tombstoneLimit() throws {
        let store = folder.store { $0.messageLimit = 20 }
        let ids = (0..<16).map { "early\($0)" }
        for (stamp, refusal) in [
            (stamp("r1", retracting: ids, issuedAt: now - 60), nil),
            (stamp("r2", retracting: ids.map { $0 + "b" }, issuedAt: now - 30), nil),
            (stamp("early0", issuedAt: now - 60), .replayed), (stamp("early0", issuedAt: now - 90), .replayed),
            (stamp("early0b", issuedAt: now - 45), .retracted), (stamp("other", issuedAt: now - 45), nil),
        ] as [(MessageStamp, FailureClass?)] {
            #expect(try store.claimInFile(stamp, at: now.seconds).refusal == refusal, "\(stamp.name)")
        }
    }

    @Test("effects of a message that only the memory could claim are written with it, once")
    func withoutTheFile() throws {
        _ = try store.rememberedIDs()
        try claim(stamp("old", "OLD"))
        let message = stamp("a", "A", retracting: ["old"], badge: .add(2))
        #expect(try store.unwritten.claim(message, at: now.seconds).refusal == nil)
        #expect(store.unwritten.isRetracted(stamp("old")))
        #expect(try claim(stamp("x"), after: 1).refusal == nil)
        #expect(try store.badge() == 2)
        #expect(try claim(stamp("y"), after: 2).dueRequestIDs == ["OLD"])
        #expect(try claim(stamp("a", badge: .add(2)), after: 90).refusal == nil)
        #expect(try store.badge() == 2)
    }
}

/// Whether the app finds the notifications that the extension restored, and no others, and what it opens itself.
@Suite struct RestoredNotificationsTests {
    private let folder: StoreFolder
    private let payload: [UInt8]

    init() throws {
        folder = StoreFolder()
        payload = try TestPush().sealed()
    }

    private func show(
        _ payload: [UInt8], _ requestID: String? = "name", _ change: (inout ExtensionConfiguration) -> Void = { _ in }
    ) async throws -> DeliverySession.Delivery {
        try await deliver(payload, requestID: requestID) { configuration in
            configuration.store = folder.store()
            change(&configuration)
        }
    }

    private func messageID(
        _ requestID: String, _ userInfo: [UInt8], at time: UnixTime = TestPush.now
    ) throws -> String? {
        try folder.store(.app).restoredMessageID(requestID: requestID, userInfo: userInfo, at: time)
    }

    @Test("a restored notification is found by its name and its userInfo only, until its message expires")
    func found() async throws {
        let push = try TestPush.open(payload).get()
        let userInfo = try await show(payload).content.userInfo
        #expect(try messageID("name", userInfo) == push.messageID)
        #expect(try messageID("name", userInfo, at: push.expiresAt - 1) == push.messageID)
        #expect(try messageID("name", userInfo, at: push.expiresAt) == nil)
        #expect(try messageID("name2", userInfo) == nil)
        #expect(try messageID("nam", Array("e".utf8) + userInfo) == nil)
        #expect(try messageID("name", userInfo + [0x20]) == nil)
        #expect(try messageID("name", []) == nil)
    }

    @Test("content that a stage has changed is found as it was handed over")
    func changed() async throws {
        let own = Array(#"{"own":1}"#.utf8)
        _ = try await show(payload) { $0.stages = [TestStage { $0.userInfo = own }] }
        #expect(try messageID("name", own) != nil)
        #expect(try messageID("name", Array(TestPush.json.utf8)) == nil)
    }

    @Test("placeholders and accepted unsealed pushes aren't found")
    func notRestored() async throws {
        let unsealed = Array(#"{"aps":{"alert":"x","mutable-content":1}}"#.utf8)
        for delivery in [
            try await show(TestPush(key: "other p256").sealed()), try await show(unsealed) { $0.unsealed = .shown },
        ] {
            #expect(!delivery.isRestored)
            #expect(try messageID("name", delivery.content.userInfo) == nil)
        }
    }

    @Test("a push without a name is shown and nothing is remembered")
    func unnamed() async throws {
        let delivery = try await show(payload, nil)
        #expect(delivery.isRestored)
        #expect(try messageID("", delivery.content.userInfo) == nil)
    }

    @Test("of more than 512 restored notifications the oldest is forgotten, and expired ones are removed")
    func limit() throws {
        let push = try TestPush.open(payload).get()
        let store = folder.store()
        func remember(_ name: String, at time: UnixTime = TestPush.now) throws {
            var report = DeliveryReport.sample(at: time)
            report.restored = RestoredMark(push, requestID: name, userInfo: [])
            _ = try store.record(DeliveryRecord(report: report))
        }
        for number in 0...512 { try remember("\(number)") }
        #expect(try ["0", "1", "512"].map { try messageID($0, []) != nil } == [false, true, true])
        try remember("late", at: push.expiresAt)
        let count = try store.transaction { database throws(SQLiteError) in
            try database.integer("SELECT count(*) FROM restored")
        }
        #expect(count == 1)
    }

    private func open(
        _ payload: [UInt8], _ store: SharedStore, at time: UnixTime = TestPush.now,
        _ keepRunning: ProcessActivity = .system
    ) throws -> Result<OpenedPush, FailureClass> {
        try ExtensionConfiguration.test().opener.claiming(payload, in: store, at: time, keepRunning)
    }

    @Test("the app opens a message once, and the extension shows it nevertheless")
    func once() async throws {
        let opened = try open(payload, folder.store(.app)).get()
        #expect(opened.content.title.literal == "Zoë")
        // Another process of the app, after a claim would have lapsed.
        #expect(try open(payload, folder.store(.app), at: TestPush.now + 120).failure == .replayed)
        #expect(try await deliver(payload) { $0.store = folder.store() }.isRestored)
    }

    @Test("expired, foreign and unsealed payloads fail with their classes")
    func failures() throws {
        let store = folder.store(.app)
        #expect(try open(payload, store, at: TestPush.now + TestPush.window).failure == .expired)
        #expect(try open(TestPush(key: "other p256").sealed(), store).failure == .unknownKey)
        #expect(try open(Array(#"{"aps":{"content-available":1}}"#.utf8), store).failure == .notSealed)
    }

    @Test("if the system is about to suspend the process, nothing is claimed")
    func suspended() throws {
        let store = folder.store(.app)
        #expect(try open(payload, store, ProcessActivity { _ in nil }).failure == .timedOut)
        #expect(try open(payload, store).failure == nil)
    }
}
