import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The changes that a claim makes to other notifications and to the badge.
@Suite struct MessageEffectsTests {
    private let folder: StoreFolder
    private let store: SharedStore
    private let now = StoreFolder.now

    init() throws {
        folder = try StoreFolder()
        store = folder.store()
    }

    private func stamp(
        _ id: String, _ effects: MessageEffects = MessageEffects(), issuedAt: UnixTime = StoreFolder.now,
        profile: UInt8 = 2, requestID: String? = nil
    ) -> MessageStamp {
        var stamp = MessageStamp(name: id, issuedAt: issuedAt, expiresAt: issuedAt + 3_600)
        (stamp.effects, stamp.profile, stamp.requestID) = (effects, profile, requestID)
        return stamp
    }

    private func claim(_ stamp: MessageStamp, after seconds: Int64 = 0) throws -> ClaimAnswer {
        try store.claimInFile(stamp, at: now.seconds + seconds)
    }

    @Test("a retraction returns the notification of its message, and the message is refused afterwards")
    func retractsShown() throws {
        #expect(try claim(stamp("a", requestID: "A")).refusal == nil)
        let answer = try claim(stamp("r", MessageEffects(retractedNames: ["a"]), requestID: "R"))
        #expect(answer.refusal == nil && answer.dueRequestIDs == ["A"])
        var record = DeliveryRecord()
        record.message = stamp("a")
        #expect(try store.record(record).isRetracted)
        #expect(try claim(stamp("a", requestID: "A2"), after: 120).refusal == .retracted)
    }

    @Test("a message that was retracted before it came is refused, and its effects are applied once")
    func retractedEarly() throws {
        _ = try claim(stamp("b", requestID: "B"))
        _ = try claim(stamp("r", MessageEffects(retractedNames: ["a"])))
        let late = stamp("a", MessageEffects(retractedNames: ["b"], badge: .add(2)))
        let answer = try claim(late)
        #expect(answer.refusal == .retracted && answer.dueRequestIDs == ["B"])
        #expect(try claim(late, after: 120).refusal == .retracted)
        #expect(try store.badge() == 2)
    }

    @Test(
        "a retraction acts only on messages whose profile bits are among its own",
        arguments: [(1, 1, true), (1, 3, true), (2, 1, false), (3, 2, false), (0, 2, true)] as [(UInt8, UInt8, Bool)])
    func profiles(_ message: UInt8, _ retraction: UInt8, _ acts: Bool) throws {
        _ = try claim(stamp("a", profile: message, requestID: "A"))
        let answer = try claim(stamp("r", MessageEffects(retractedNames: ["a"]), profile: retraction))
        #expect(answer.dueRequestIDs == (acts ? ["A"] : []))
        let again = try claim(stamp("a", profile: message), after: 120)
        #expect(again.refusal == (acts ? .retracted : nil))
    }

    @Test("an increment counts once although its claim is released, has lapsed and is granted again")
    func onceForAnID() throws {
        let message = stamp("a", MessageEffects(badge: .add(3)))
        #expect(try claim(message).badge == 3)
        try store.release(message.claim)
        let again = stamp("a", MessageEffects(badge: .add(3)))
        #expect(try claim(again).refusal == nil)
        #expect(try claim(stamp("a", MessageEffects(badge: .add(3))), after: 60).refusal == nil)
        #expect(try store.badge() == 3)
    }

    @Test("a badge is clamped, an older absolute one is ignored, and the app sets it")
    func badge() throws {
        #expect(try claim(stamp("a", MessageEffects(badge: .set(10_000)), issuedAt: now + 5)).badge == 9_999)
        #expect(try claim(stamp("b", MessageEffects(badge: .set(1)), issuedAt: now)).badge == 9_999)
        #expect(try claim(stamp("c", MessageEffects(badge: .set(4)), issuedAt: now + 5)).badge == 4)
        #expect(try claim(stamp("d", MessageEffects(badge: .add(-9)))).badge == 0)
        try folder.store(.app).setBadge(70)
        #expect(try claim(stamp("e", MessageEffects(badge: .add(1)))).badge == 71)
        #expect(try folder.store(.app).badge() == 71)
    }

    @Test("the app's role applies no effect")
    func appRole() throws {
        let app = folder.store(.app)
        let answer = try app.claimInFile(
            stamp("a", MessageEffects(retractedNames: ["b"], badge: .add(1)), requestID: "A"), at: now.seconds)
        #expect(answer.refusal == nil && answer.badge == nil)
        #expect(try store.badge() == 0)
        #expect(try claim(stamp("b")).refusal == nil)
    }

    /// A session whose claim is late shows its message, and its record may be written before its claim.
    @Test("effects of a message that is recorded before its claim are applied once", arguments: [false, true])
    func recordedBeforeItsClaim(_ isFileBroken: Bool) throws {
        _ = try claim(stamp("old", requestID: "OLD"))
        let message = stamp("a", MessageEffects(retractedNames: ["old"], badge: .add(2)), requestID: "A")
        var record = DeliveryRecord(claim: message.claim, isShown: true)
        record.message = message
        if isFileBroken {
            try store.unwritten.markSeen(message.claim, message)
        } else {
            #expect(try store.record(record).badge == 2)
        }
        let late = try claim(message, after: 1)
        #expect(late.refusal == .replayed && late.dueRequestIDs == ["OLD"])
        #expect(try store.badge() == 2)
        #expect(try claim(stamp("a", MessageEffects(badge: .add(2))), after: 120).refusal == .replayed)
        #expect(try store.badge() == 2)
    }

    private final class Screen: DeliveredNotifications {
        let removed = Locked<[String]>([])
        func remove(_ requestIDs: [String]) { removed.withLock { $0 += requestIDs } }
    }

    @Test("a message that two processes have shown, one without the store, is removed under both names")
    func shownTwice() throws {
        _ = try claim(stamp("a", requestID: "A"))
        let other = stamp("a", requestID: "B")
        var record = DeliveryRecord(claim: other.claim, isShown: true)
        record.message = other
        #expect(try store.record(record).isRetracted == false)
        let answer = try claim(stamp("r", MessageEffects(retractedNames: ["a"]), requestID: "R"))
        #expect(answer.dueRequestIDs == ["A", "B"])
    }

    @Test("a sweep removes the notifications of expired messages, and forgets them")
    func sweep() throws {
        _ = try claim(stamp("a", requestID: "A"))
        _ = try claim(stamp("b", issuedAt: now + 60, requestID: "B"))
        let screen = Screen()
        let app = folder.store(.app)
        try app.sweep(screen, at: now + 3_599)
        #expect(screen.removed.withLock { $0 } == [])
        try app.sweep(screen, at: now + 3_600)
        try app.sweep(screen, at: now + 3_601)
        #expect(screen.removed.withLock { $0 } == ["A"])
    }

    @Test("512 notifications are known, and a later message of the same name replaces the earlier one")
    func shownLimit() throws {
        for number in 0..<513 { _ = try claim(stamp("m\(number)", requestID: "R\(number)")) }
        _ = try claim(stamp("n", requestID: "R512"))
        let retraction = MessageEffects(retractedNames: ["m0", "m1", "m512"])
        #expect(try claim(stamp("r", retraction)).dueRequestIDs == ["R1"])
    }

    @Test("a notification whose name was given to a placeholder isn't removed with the message that it showed")
    func replaced() throws {
        _ = try claim(stamp("a", requestID: "A"))
        var record = DeliveryRecord()
        record.replacedRequestID = "A"
        _ = try store.record(record)
        #expect(try claim(stamp("r", MessageEffects(retractedNames: ["a"]))).dueRequestIDs == [])
    }

    @Test("over the limit the oldest retraction is forgotten, and messages of its age or older are refused")
    func tombstoneLimit() throws {
        let store = folder.store { $0.messageLimit = 20 }
        func claim(_ stamp: MessageStamp) throws -> FailureClass? {
            try store.claimInFile(stamp, at: now.seconds).refusal
        }
        let ids = (0..<16).map { "early\($0)" }
        #expect(try claim(stamp("r1", MessageEffects(retractedNames: ids), issuedAt: now - 60)) == nil)
        #expect(try claim(stamp("r2", MessageEffects(retractedNames: ids.map { $0 + "b" }), issuedAt: now - 30)) == nil)
        #expect(try claim(stamp("early0", issuedAt: now - 60)) == .replayed)
        #expect(try claim(stamp("early0", issuedAt: now - 90)) == .replayed)
        #expect(try claim(stamp("early0b", issuedAt: now - 45)) == .retracted)
        #expect(try claim(stamp("other", issuedAt: now - 45)) == nil)
    }

    @Test("effects of a message that only the memory could claim are written with it, once")
    func withoutTheFile() throws {
        _ = try store.rememberedIDs()
        _ = try claim(stamp("old", requestID: "OLD"))
        let message = stamp("a", MessageEffects(retractedNames: ["old"], badge: .add(2)), requestID: "A")
        #expect(try store.unwritten.claim(message, at: now.seconds).refusal == nil)
        #expect(store.unwritten.isRetracted(stamp("old")))
        #expect(try claim(stamp("x"), after: 1).refusal == nil)
        #expect(try store.badge() == 2)
        #expect(try claim(stamp("y"), after: 2).dueRequestIDs == ["OLD"])
        #expect(try claim(stamp("a", MessageEffects(badge: .add(2))), after: 90).refusal == nil)
        #expect(try store.badge() == 2)
    }
}
