import Foundation
import PushCryptSQLite
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

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
