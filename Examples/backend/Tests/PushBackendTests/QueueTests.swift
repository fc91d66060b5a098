import Foundation
import GRDB
import PushCryptSender
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
        #expect(try await test.accept().deliveries == 2)
        #expect(try await test.claim(.production).map(\.token) == ["aa"])
        #expect(try await test.claim(.sandbox).map(\.token) == ["bb"])
    }

    @Test("a delivery is claimed once, and the next process takes back the claims of one that has died")
    func claims() async throws {
        try await test.register("zoe")
        _ = try await test.accept()
        let first = try await test.claim()
        #expect(first.count == 1 && UUID(uuidString: first[0].apnsID) != nil)
        #expect(try await test.claim(at: 3_599_000).isEmpty)
        try test.restart()
        let second = try await test.claim()
        #expect(second.map(\.apnsID) == first.map(\.apnsID) && second[0].attempts == 2)
    }

    @Test("a repeated request with one idempotency key adds one message, and another message is refused")
    func idempotency() async throws {
        try await test.register("zoe")
        let first = try await test.accept(key: "k")
        #expect(try await test.accept(key: "k") == first)
        let error = await #expect(throws: StoreError.self) { try await test.accept(text: "[]", key: "k") }
        #expect(error?.code == .conflict)
        #expect(try await test.count("delivery") == 1)
    }

    @Test("urgent messages overtake others")
    func priority() async throws {
        try await test.register("zoe")
        for priority in [1, 10, 5] { _ = try await test.accept(priority: priority) }
        #expect(try await test.claim().map(\.priority) == [10, 5, 1])
    }

    @Test("messages, deliveries and receipts are removed 30 days after their end, and not before")
    func retention() async throws {
        let end: Int64 = 3_600_000 + 30 * 86_400_000
        try await test.register("zoe")
        _ = try await test.accept()
        try await test.send()
        try await test.confirm(at: 3_600_000)
        for (time, count) in [(end - 1, 1), (end, 0)] {
            try await test.store.tidy(at: time)
            for table in ["message", "delivery", "receipt"] { #expect(try await test.count(table) == count) }
        }
    }

    @Test("a second service with the same database is refused until the first one has ended")
    func secondProcess() throws {
        let error = #expect(throws: StoreError.self) { _ = try SQLiteStore(path: test.path) }
        #expect(error?.reason.contains("another process") == true)
        try test.restart()
    }

    @Test("what expires is reported as failed, and its payload is erased")
    func expiry() async throws {
        try await test.register("zoe")
        let message = try await test.accept()
        try await test.store.tidy(at: 3_600_000)
        #expect(try await test.store.report(on: message.id)?.failed == ["expired": 1])
        #expect(try await test.count("message WHERE payload IS NOT NULL") == 0)
    }

    /// What a device does after a push was sent to it.
    enum Event: CaseIterable { case nothing, confirms, signsOut }

    @Test("the payload is erased when the device has confirmed the push or signed out, or after ten minutes")
    func erasure() async throws {
        for event in Event.allCases {
            let test = try TestStore()
            let state = try await test.register("zoe")
            _ = try await test.accept()
            try await test.send(at: 2_000)
            switch event {
            case .nothing: break
            case .confirms: try await test.confirm()
            case .signsOut: _ = try await test.store.signOut(state.name, of: "zoe", at: 3_000)
            }
            try await test.store.tidy(at: 5_000)
            #expect(try await test.count("message WHERE payload IS NOT NULL") == (event == .nothing ? 1 : 0))
            try await test.store.tidy(at: 602_000)
            #expect(try await test.count("message WHERE payload IS NOT NULL") == 0)
        }
    }

    @Test("a full disk is an error, and accepts nothing in part")
    func fullDisk() async throws {
        try await test.register("zoe")
        try await test.store.database.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        let error = await #expect(throws: StoreError.self) {
            _ = try await test.accept(text: String(repeating: "x", count: 100_000))
        }
        #expect(error?.code == .unavailable)
        for table in ["message", "delivery"] { #expect(try await test.count(table) == 0) }
    }
}
