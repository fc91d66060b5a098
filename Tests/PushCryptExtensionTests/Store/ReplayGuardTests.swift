import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// PROTOCOL section 5, "Replay".
@Suite struct ReplayGuardTests {
    private let folder: StoreFolder
    private let store: SharedStore
    private let now = StoreFolder.now
    private static let window = MessageHeader.windowInSeconds
    private static let tolerance = Freshness.toleranceInSeconds

    init() throws {
        folder = try StoreFolder()
        store = folder.store { $0.messageLimit = 5 }
    }

    private func claim(_ id: String, _ issuedAt: Int64 = 0, at time: Int64 = 0, _ other: SharedStore? = nil) throws
        -> Bool
    {
        try (other ?? store).claim(id, issuedAt: now + issuedAt, at: now + time)
    }

    @Test("a message is granted once, also when it was seen, also to another process")
    func once() throws {
        #expect(try claim("a"))
        #expect(try !claim("a"))
        try store.markSeen("a")
        #expect(try !claim("a"))
        #expect(try !claim("a", 0, at: 1_000_000, folder.store()))
        #expect(try claim("b", 0, folder.store()))
        #expect(try !claim("b"))
    }

    @Test(
        "a claim lapses after 60 seconds, whichever way the clock went",
        arguments: [
            (0, false), (1, false), (59, false), (60, true), (61, true), (1_000_000, true), (-59, false), (-60, true),
            (-1_000_000, true),
        ] as [(Int64, Bool)])
    func lapse(_ time: Int64, _ isGranted: Bool) throws {
        #expect(try claim("a"))
        #expect(try claim("a", 0, at: time) == isGranted)
        // The next one has a claim of its own.
        if isGranted { #expect(try !claim("a", 0, at: time + 1)) }
    }

    @Test("what was seen doesn't lapse", arguments: [60, 10_000_000, -60, -10_000_000] as [Int64])
    func seen(_ time: Int64) throws {
        #expect(try claim("a"))
        try store.markSeen("a")
        #expect(try !claim("a", 0, at: time))
    }

    @Test("times beyond all bounds", arguments: [Int64.min, Int64.max])
    func bounds(_ time: Int64) throws {
        #expect(try claim("a", at: 0))
        #expect(try store.claim("a", issuedAt: now, at: UnixTime(time)))
        #expect(try store.claim("a", issuedAt: now, at: now))
        #expect(try !store.claim("b", issuedAt: UnixTime(time), at: now))
        #expect(try store.claim("c", issuedAt: UnixTime(UnixTime.protocolRange.upperBound), at: UnixTime(time)))
    }

    @Test("the app and the extension each show a message once")
    func roles() throws {
        let app = folder.store(.app)
        #expect(try claim("a", 7))
        try store.markSeen("a")
        #expect(try app.highestIssuedAt() == nil)
        #expect(try claim("a", 7, app))
        try app.markSeen("a")
        #expect(try !claim("a", 7, app) && !claim("a", 7))
    }

    @Test("H is the highest iat that was granted, and stays")
    func highest() throws {
        #expect(try store.highestIssuedAt() == nil)
        for (number, (issuedAt, highest)) in [(10, 10), (5, 10), (10, 10), (11, 11)].enumerated() {
            #expect(try claim("\(number)", Int64(issuedAt)))
            #expect(try store.highestIssuedAt() == now + Int64(highest))
        }
        #expect(try !claim("3", 99))
        #expect(try folder.store().highestIssuedAt() == now + 11)
    }

    @Test("a message is remembered until H is further than the window and 10 minutes, and refused after")
    func window() throws {
        #expect(try claim("old"))
        try store.markSeen("old")
        #expect(try claim("lost"))
        #expect(try claim("a", Self.window + Self.tolerance))
        #expect(try !claim("old"))
        // Not remembered, but not too old to tell.
        #expect(try claim("other"))
        #expect(try claim("b", Self.window + Self.tolerance + 1))
        #expect(try !claim("old"))
        #expect(try !claim("third"))
        #expect(try !claim("lost", at: 60))
        #expect(try claim("fourth", 1))
    }

    /// Sealed again, a campaign's message has the same id and a later iat: it is remembered as long as that one.
    @Test("a repeat that was refused is remembered by its own iat", arguments: [false, true])
    func resealed(_ wasSeen: Bool) throws {
        let day: Int64 = 86_400
        #expect(try claim("a"))
        if wasSeen { try store.markSeen("a") }
        #expect(try !claim("a", 20 * day, at: 59))
        // An earlier one takes nothing back.
        #expect(try !claim("a", 10 * day, at: 59))
        #expect(try store.highestIssuedAt() == now)
        try store.markSeen("a")
        #expect(try claim("b", 31 * day, at: 31 * day))
        #expect(try !claim("a", 20 * day, at: 31 * day))
        #expect(try claim("c", 20 * day + Self.window + Self.tolerance, at: 51 * day))
        #expect(try !claim("a", 20 * day, at: 51 * day))
        // Then it is too old to be shown, whether or not it is remembered.
        #expect(try claim("d", 20 * day + Self.window + Self.tolerance + 1, at: 51 * day))
        #expect(try !claim("a", 20 * day, at: 51 * day))
    }

    /// Without an answer it would be shown: a store that fails is as good as none.
    @Test("a repeat is refused also where the store is found damaged by then", arguments: [false, true])
    func damaged(_ wasSeen: Bool) throws {
        #expect(try claim("a"))
        if wasSeen { try store.markSeen("a") }
        try folder.script("CREATE TRIGGER foreign_one BEFORE UPDATE ON message BEGIN SELECT RAISE(ABORT, ''); END")
        #expect(try !claim("a", 1))
        #expect(try store.statistics().rebuildCount == 1)
    }

    /// Anyone can send them, and each write takes the device's flash.
    @Test("the same bytes once more write nothing")
    func unchanged() throws {
        #expect(try claim("a", 5))
        let before = try Data(contentsOf: folder.file)
        #expect(try !claim("a", 5, at: 59) && !claim("a", 4, at: 59))
        #expect(try Data(contentsOf: folder.file) == before)
        #expect(try !claim("a", 6, at: 59))
        #expect(try Data(contentsOf: folder.file) != before)
    }

    @Test("a repeat that was granted after a lapse counts as accepted")
    func resealedAfterLapse() throws {
        let day: Int64 = 86_400
        #expect(try claim("a"))
        #expect(try claim("a", 20 * day, at: 60))
        #expect(try store.highestIssuedAt() == now + 20 * day)
        try store.markSeen("a")
        #expect(try claim("b", 31 * day, at: 31 * day))
        #expect(try !claim("a", 20 * day, at: 31 * day))
    }

    @Test("when full, the oldest goes, and nothing as old is granted")
    func floor() throws {
        for number in 1...5 { #expect(try claim("\(number)", Int64(number))) }
        #expect(try claim("6", 6))
        #expect(try !claim("1", 1))
        #expect(try !claim("new", 1))
        #expect(try !claim("2", 2))
        // A claim that lapsed is still known, and granted.
        #expect(try claim("2", 2, at: 60))
        #expect(try claim("7", 7))
        #expect(try !claim("2", 2, at: 120))
        #expect(try !claim("new", 2))
        // The floor is of the store, not of the object.
        #expect(try !claim("new", 2, folder.store()))
    }

    @Test("the newest may be the oldest: it is granted once")
    func floorOfItself() throws {
        for number in 11...15 { #expect(try claim("\(number)", Int64(number))) }
        #expect(try claim("10", 10))
        #expect(try !claim("10", 10, at: 60))
        #expect(try !claim("new", 9))
        #expect(try !claim("11", 11))
    }

    @Test("a smaller limit holds from the next message on")
    func smallerLimit() throws {
        for number in 1...5 { #expect(try claim("\(number)", Int64(number))) }
        let small = folder.store { $0.messageLimit = 2 }
        #expect(try claim("6", 6, small))
        #expect(try !claim("4", 4, at: 60, small))
        #expect(try claim("5", 5, at: 60, small))
    }

    @Test("a message that nobody claimed can't be marked")
    func unknown() throws {
        try store.markSeen("a")
        #expect(try claim("a"))
    }
}
