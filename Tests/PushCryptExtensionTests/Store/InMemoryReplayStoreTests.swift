import PushCryptSQLite
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The messages that a process remembers while the file can't be used. ``StoreRefusalTests`` have full disks.
@Suite struct InMemoryReplayStoreTests {
    private let (folder, store) = StoreFolder.withStore { $0.busyTimeout = .zero }
    private let now = StoreFolder.now

    private func claim(_ id: String, at time: Int64 = 0, _ other: SharedStore? = nil) throws -> MessageClaim? {
        let answer = try (other ?? store).claim(id, issuedAt: now, expiresAt: now + 86_400, at: now + time)
        return try? answer.get()
    }

    /// A store whose folder's parent is missing.
    private func unusable(messageLimit: Int = 1_000) -> SharedStore {
        var configuration = SharedStore.Configuration()
        configuration.messageLimit = messageLimit
        return SharedStore(folder: folder.path + "/below", role: .app, configuration: configuration)
    }

    @Test("messages shown while the store is locked are shown once and written to the file later")
    func held() async throws {
        try folder.fill()
        try await folder.whileHeld {
            let claim = try #require(try claim("a"))
            #expect(try self.claim("a") == nil)
            try store.markSeen(claim)
            #expect(try self.claim("a", at: 60) == nil)
            #expect(try self.claim("b") != nil)
            #expect(try self.claim("b", at: 60) != nil)
        }
        #expect(try claim("a", at: 61) == nil)
        #expect(store.unwritten.messages.isEmpty)
        let other = folder.store()
        #expect(try claim("a", at: 61, other) == nil && claim("b", at: 61, other) == nil)
        #expect(try claim("b", at: 120, other) != nil)
    }

    /// A session whose claim is late shows its message, although another process has shown it before.
    @Test("a process doesn't show a message twice whose claim was refused after it was shown")
    func refusedLate() async throws {
        let other = folder.store()
        try other.markSeen(try #require(try claim("a", at: 0, other)))
        let late = MessageStamp(name: "a", issuedAt: now, expiresAt: now + 86_400)
        #expect(store.reserve(late, at: now))
        #expect(try store.claim(late, isReserved: true, at: now).refusal == .replayed)
        try store.markSeen(late.claim)
        try await folder.whileHeld {
            let again = try claim("a", at: 1)
            #expect(again == nil)
        }
    }

    @Test("a message that was claimed or shown before the store was locked isn't granted while it is locked")
    func shownBefore() async throws {
        try store.markSeen(try #require(try claim("a")))
        let (inWork, shown) = (try #require(try claim("b")), try #require(try claim("c")))
        try await folder.whileHeld {
            #expect(try claim("a", at: 1) == nil)
            #expect(try claim("b", at: 1) == nil)
            try store.release(inWork)
            try store.markSeen(shown)
        }
        #expect(try claim("b", at: 2) != nil)
        #expect(try claim("c", at: 60, folder.store()) == nil)
    }

    @Test("a second claim of a message is accepted only after the first was released, or forgotten over the limit")
    func twoCopies() throws {
        let claims = ClaimedMessages()
        let copies = [1, 2].map { MessageClaim(name: "a", issuedAt: now, token: $0) }
        #expect(claims.add(copies[0], at: now.seconds) && !claims.add(copies[1], at: now.seconds + 59))
        claims.remove(copies[1])
        #expect(!claims.add(copies[1], at: now.seconds + 59))
        claims.remove(copies[0])
        #expect(claims.add(copies[1], at: now.seconds + 59))
        claims.markSeen(copies[1])
        #expect(!claims.add(copies[0], at: now.seconds + 1_000))
        // Over the limit the oldest claim is forgotten.
        for number in 1...ClaimedMessages.limit {
            #expect(claims.add(MessageClaim(name: "\(number)", issuedAt: now), at: now.seconds))
        }
        #expect(claims.add(copies[0], at: now.seconds))
        #expect(!claims.add(MessageClaim(name: "\(ClaimedMessages.limit)", issuedAt: now), at: now.seconds))
    }

    @Test("a copy of a message that another session has reserved claims nothing, and its later iat is remembered")
    func copyWithoutReservation() throws {
        let first = MessageStamp(name: "a", issuedAt: now, expiresAt: now + 86_400)
        let again = MessageStamp(name: "a", issuedAt: now + 7, expiresAt: now + 86_400)
        #expect(store.reserve(first, at: now) && !store.reserve(again, at: now))
        #expect(try store.claim(again, isReserved: false, at: now).refusal == .replayed)
        #expect(try store.claim(first, isReserved: true, at: now).refusal == nil)
        try store.markSeen(first.claim)
        let iat = try store.transaction { database throws(SQLiteError) in
            try database.integer("SELECT iat FROM message WHERE name = 'a' AND claimed IS NULL")
        }
        #expect(iat == now.seconds + 7)
    }

    @Test("a message that was claimed in memory can be marked as seen or released in the file")
    func heldAtClaim() async throws {
        try folder.fill()
        var claims = [MessageClaim]()
        try await folder.whileHeld {
            for id in ["a", "b", "c"] { claims.append(try #require(try claim(id))) }
            try store.release(claims[0])
            #expect(try claim("a") != nil)
        }
        try store.markSeen(claims[1])
        try store.release(claims[2])
        let other = folder.store()
        #expect(try claim("b", at: 60, other) == nil)
        #expect(try claim("c", at: 1, other) != nil)
    }

    @Test("without a folder a process shows each message once and another process shows it again")
    func noFolder() throws {
        let (store, other) = (unusable(), unusable())
        let shown = try #require(try claim("a", at: 0, store))
        try store.markSeen(shown)
        #expect(try claim("a", at: 1_000, store) == nil)
        #expect(try claim("a", at: 1_000, other) != nil)
    }

    @Test("the memory keeps as many messages as the limit and refuses messages as old as forgotten ones")
    func bounded() throws {
        let store = unusable(messageLimit: 3)
        for number in 0..<10 {
            let answer = try store.claim("\(number)", issuedAt: now + Int64(number), expiresAt: now + 86_400)
            #expect(answer.failure == nil)
        }
        #expect(store.unwritten.messages.map(\.claim.name) == ["7", "8", "9"])
        #expect(try claim("0", at: 60, store) == nil)
    }
}
