import Foundation
import GRDB
import Testing

@testable import PushBackend

@Suite("the queue in SQLite") struct QueueTests {
    private let test: TestStore

    init() throws { test = try TestStore() }

    @Test("a message goes to every installation of its user, and to no other user")
    func user() async throws {
        try await test.register("zoe", token: "aa", kid: "kid-1")
        try await test.register("zoe", token: "bb", kid: "kid-2", environment: .sandbox)
        try await test.register("amara", token: "cc", kid: "kid-3")
        #expect(try await test.accept(.user("zoe")).deliveryCount == 2)
        #expect(try await test.claim(.production).map(\.token) == ["aa"])
        #expect(try await test.claim(.sandbox).map(\.token) == ["bb"])
    }

    @Test("a message goes to the segment as it is now")
    func segment() async throws {
        try await test.register("zoe", token: "aa", kid: "kid-1")
        try await test.register("amara", token: "cc", kid: "kid-3")
        try await test.store.setSegments(["news", "offers"], of: "zoe")
        try await test.store.setSegments(["news"], of: "amara")
        try await test.store.setSegments(["offers"], of: "zoe")
        #expect(try await test.accept(.segment("news")).deliveryCount == 1)
        #expect(try await test.accept(.segment("empty")).deliveryCount == 0)
    }

    @Test("a segment includes the devices that its users register later")
    func laterDevice() async throws {
        try await test.store.setSegments(["news"], of: "zoe")
        #expect(try await test.accept(.segment("news")).deliveryCount == 0)
        try await test.register("zoe")
        #expect(try await test.accept(.segment("news")).deliveryCount == 1)
    }

    @Test("a delivery is claimed once, until its lease ends, and keeps its apns-id")
    func lease() async throws {
        try await test.register("zoe")
        _ = try await test.accept(.user("zoe"))
        let first = try await test.claim()
        #expect(first.count == 1 && UUID(uuidString: first[0].apnsID) != nil)
        #expect(try await test.claim(at: 60_999).isEmpty)
        let second = try await test.claim(at: 61_000)
        #expect(second.map(\.apnsID) == first.map(\.apnsID) && second[0].attempts == 2)
    }

    @Test("the next process takes back the claims of one that has died")
    func restart() async throws {
        try await test.register("zoe")
        _ = try await test.accept(.user("zoe"))
        let first = try await test.claim()
        try test.restart()
        #expect(try await test.claim().map(\.apnsID) == first.map(\.apnsID))
    }

    @Test("a repeated request with one idempotency key adds one message, and another message is refused")
    func idempotency() async throws {
        try await test.register("zoe")
        let first = try await test.accept(.user("zoe"), key: "k")
        #expect(try await test.accept(.user("zoe"), key: "k") == first)
        await #expect(throws: StoreError.self) { try await test.accept(.user("zoe"), text: "[]", key: "k") }
        #expect(try await test.store.queueDepth() == 1)
    }

    @Test("of messages that are accepted together, a refused one takes nothing from the others")
    func together() async throws {
        try await test.register("zoe")
        _ = try await test.accept(.user("zoe"), key: "k")
        let refused = try await withThrowingTaskGroup(of: StoreError.Code?.self) { [test] group in
            for number in 0..<50 {
                group.addTask {
                    do {
                        _ = try await test.accept(.user("zoe"), text: "[\(number)]", key: number == 25 ? "k" : nil)
                        return nil
                    } catch let error as StoreError { return error.code }
                }
            }
            return try await group.reduce(into: [StoreError.Code]()) { $0 += [$1].compactMap(\.self) }
        }
        #expect(refused == [.conflict])
        #expect(try await test.store.queueDepth() == 50)
    }

    @Test("urgent messages overtake others")
    func priority() async throws {
        try await test.register("zoe")
        for priority in [1, 10, 5] {
            _ = try await test.store.accept(
                NewMessage(to: .user("zoe"), payload: Data("{}".utf8), priority: priority, expiresAt: 9_000), at: 1_000)
        }
        #expect(try await test.claim().map(\.priority) == [10, 5, 1])
    }

    @Test("a message to one user overtakes those to a segment, of the same priority")
    func segmentWaits() async throws {
        try await test.register("zoe")
        try await test.store.setSegments(["news"], of: "zoe")
        let news = try await test.accept(.segment("news"))
        let single = try await test.accept(.user("zoe"))
        #expect(try await test.claim().map(\.messageID) == [single.id, news.id])
    }

    @Test("messages, deliveries and receipts are removed 30 days after their end, and not before")
    func retention() async throws {
        let end: Int64 = 3_600_000 + 30 * 86_400_000
        try await test.register("zoe")
        _ = try await test.accept(.user("zoe"))
        try await test.end(try await test.claim()[0], .sent(receiptName: "name"), at: 2_000)
        try await test.store.add(
            DeviceReceipt(id: "name", name: "name", failure: nil, kid: nil, time: 2_000), of: "zoe", at: 3_600_000)
        while try await test.store.tidy(at: end - 1) {}
        #expect(try await rowCounts() == [1, 1, 1])
        while try await test.store.tidy(at: end) {}
        #expect(try await rowCounts() == [0, 0, 0])
    }

    private func rowCounts() async throws -> [Int?] {
        try await test.store.database.read { db in
            try ["message", "delivery", "receipt"].map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") }
        }
    }

    @Test("a second service with the same database is refused until the first one has ended")
    func secondProcess() throws {
        let error = #expect(throws: StoreError.self) { _ = try SQLiteStore(path: test.path) }
        #expect(error?.code == .unavailable)
        try test.restart()
    }

    @Test(
        "a push to an ended token fails, and the installation is removed unless it has registered since",
        arguments: [true, false])
    func tokenEnded(isLater: Bool) async throws {
        let state = try await test.register("zoe", at: 5_000)
        let message = try await test.accept(.user("zoe"))
        let delivery = try await test.claim()[0]
        try await test.end(delivery, .tokenEnded(at: isLater ? 5_001 : 4_999, reason: "Unregistered"))
        let report = try await test.store.report(on: message.id)
        #expect(try await test.store.registration(named: state.name, of: "zoe") == (isLater ? nil : state))
        #expect(report?.failed == ["Unregistered": 1] && report?.queued == 0)
    }

    @Test("what expires is reported as failed, and its payload is erased")
    func expiry() async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        try await test.store.tidy(at: 3_600_000)
        #expect(try await test.store.report(on: message.id)?.failed == ["expired": 1])
        let payload = try await test.store.database.read { try Data.fetchOne($0, sql: "SELECT payload FROM message") }
        #expect(payload == nil)
    }

    @Test("the payload is erased when the device has confirmed the push, or after ten minutes")
    func erasure() async throws {
        try await test.register("zoe")
        _ = try await test.accept(.user("zoe"))
        try await test.end(try await test.claim()[0], .sent(receiptName: "name"), at: 2_000)
        try await test.store.tidy(at: 3_000)
        #expect(try await payloadCount() == 1)
        try await test.store.add(
            DeviceReceipt(id: "name", name: "name", failure: nil, kid: nil, time: 2_000), of: "zoe", at: 4_000)
        try await test.store.tidy(at: 5_000)
        #expect(try await payloadCount() == 0)
    }

    @Test("the payload of a push that isn't confirmed is erased when its device has signed out")
    func erasureAtSignOut() async throws {
        let state = try await test.register("zoe")
        _ = try await test.accept(.user("zoe"))
        try await test.end(try await test.claim()[0], .sent(receiptName: "name"), at: 2_000)
        _ = try await test.store.signOut(state.name, of: "zoe", at: 3_000)
        try await test.store.tidy(at: 3_000)
        #expect(try await payloadCount() == 0)
    }

    private func payloadCount() async throws -> Int? {
        try await test.store.database.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM message WHERE payload IS NOT NULL")
        }
    }

    @Test("a full disk is an error, and accepts nothing in part")
    func fullDisk() async throws {
        try await test.register("zoe")
        var options = SQLiteStore.Options()
        let pages = try await test.store.database.read { try Int.fetchOne($0, sql: "PRAGMA page_count") }
        // The start needs a page.
        options.pageLimit = try #require(pages) + 1
        try test.restart(options)
        let text = String(repeating: "x", count: 100_000)
        let error = await #expect(throws: StoreError.self) {
            _ = try await test.store.accept(
                NewMessage(to: .user("zoe"), payload: Data(text.utf8), expiresAt: 9_000), at: 1_000)
        }
        #expect(error?.code == .unavailable)
        #expect(try await test.store.queueDepth() == 0)
    }
}
