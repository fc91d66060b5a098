import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Stores that earlier versions of this library wrote.
@Suite struct StoreVersionTests {
    /// A process of version 1 claimed 15 messages, marked ten of them as seen, counted, and spooled receipts. It was killed
    /// before it counted the last one. Another process claimed the messages 0 and 1.
    @Test("the messages, counters and receipts of a store of version 1 are kept")
    func version1() throws {
        let folder = try StoreFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        try FileManager.default.copyItem(at: Vectors.own("Store/version-1.sqlite"), to: folder.file)
        let store = folder.store()
        let statistics = try store.statistics()
        #expect(statistics.opened?.count == 11)
        #expect(statistics.failures.mapValues(\.count) == [.undecryptable: 3])
        #expect(statistics.rebuildCount == 0)
        #expect(try store.receiptCount() == 14)
        #expect(try store.replayState().latest == StoreFolder.now.seconds + 14)
        for number in 0..<15 {
            let issuedAt = StoreFolder.now + Int64(number)
            // The claims of messages that weren't seen have lapsed.
            let isGranted = try store.claim("old-\(number)", issuedAt: issuedAt, at: StoreFolder.now + 600)
            #expect(isGranted == (number % 3 == 0), "old-\(number)")
        }
        #expect(try folder.integrity() == ["ok"])
    }

    /// A process of version 2 claimed the messages 0 to 14 and recorded those whose numbers aren't multiples of 3. Those with
    /// even numbers added 2 to the badge, and message 14 retracted the messages 1 and 99. Then the app added 30 to the badge.
    @Test("the messages, counters, receipts, badge and retractions of a store of version 2 are kept")
    func version2() throws {
        let folder = try StoreFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        try FileManager.default.copyItem(at: Vectors.own("Store/version-2.sqlite"), to: folder.file)
        let (store, app) = (folder.store(), folder.store(.app))
        let later = StoreFolder.now + 600
        let statistics = try store.statistics()
        #expect(statistics.opened?.count == 8)
        #expect(statistics.failures.mapValues(\.count) == [.undecryptable: 2])
        #expect(statistics.rebuildCount == 0)
        #expect(try store.receiptCount() == 10)
        #expect(try app.badge() == 46)
        for number in 0..<15 {
            let mark = try app.restoredMessageID(requestID: "request-\(number)", userInfo: Array("{}".utf8), at: later)
            let isMarked = !number.isMultiple(of: 3) && !number.isMultiple(of: 5)
            #expect(mark == (isMarked ? "message-\(number)" : nil), "message-\(number)")
        }
        func claim(_ number: Int, _ badge: MessageEffects.BadgeChange? = nil) throws -> ClaimAnswer {
            let time = StoreFolder.now + Int64(number)
            var stamp = MessageStamp(id: "message-\(number)", issuedAt: time, expiresAt: time + 20 * 86_400)
            (stamp.profile, stamp.effects) = (2, MessageEffects(badge: badge))
            return try store.claimInFile(stamp, at: later.seconds)
        }
        for number in 0..<15 {
            let refusal = try claim(number, number.isMultiple(of: 2) ? .add(2) : nil).refusal
            // The claims of messages that weren't recorded have lapsed. Their increments were counted.
            let expected: FailureClass? = number == 1 ? .retracted : number.isMultiple(of: 3) ? nil : .replayed
            #expect(refusal == expected, "message-\(number)")
        }
        #expect(try app.badge() == 46)
        #expect(try claim(99).refusal == .retracted)
        let added = try claim(100, .add(1))
        #expect(added.refusal == nil && added.badge == 47 && added.dueRequestIDs == ["request-1"])
        #expect(try folder.integrity() == ["ok"])
    }
}
