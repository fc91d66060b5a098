import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Pushes are shown after any damage to the file.
@Suite struct StoreDamageTests {
    private let folder: StoreFolder
    private let whole: Data

    init() throws {
        folder = StoreFolder()
        try folder.fill()
        whole = try Data(contentsOf: folder.file)
    }

    /// Expects every call to work, and a message that was never seen to be granted.
    private func expectUsable(_ folder: StoreFolder, _ what: String, rebuilds: Int?) throws {
        let store = folder.store()
        #expect(try store.claim("new", issuedAt: StoreFolder.now + 100), "\(what)")
        try store.markSeen("new")
        #expect(try !store.claim("new", issuedAt: StoreFolder.now + 100), "\(what)")
        store.count(.sample())
        try store.spool(.sample("a"))
        _ = try store.receipt(after: 0)
        let count = try store.statistics().rebuildCount
        guard let rebuilds else { return }
        #expect(count == rebuilds, "\(what)")
        #expect(try folder.integrity() == ["ok"], "\(what)")
        #expect(try store.statistics().opened?.count == (rebuilds == 0 ? 16 : 1), "\(what)")
    }

    private func expectUsable(after damage: Data, _ what: String, rebuilds: Int?) throws {
        let copy = try folder.copy()
        try damage.write(to: copy.file)
        try expectUsable(copy, what, rebuilds: rebuilds)
    }

    @Test("a store is rebuilt once if its header was overwritten", arguments: [0, 1, 16, 50, 100])
    func header(_ count: Int) throws {
        for byte in [0, 0xff] as [UInt8] {
            let damaged = Data(repeating: byte, count: count) + whole.dropFirst(count)
            try expectUsable(after: damaged, "\(byte)", rebuilds: count == 0 ? 0 : 1)
        }
    }

    @Test("a store truncated at any length is usable")
    func truncated() throws {
        for count in stride(from: 0, to: whole.count, by: 512) {
            // SQLite counts whole pages. It detects an incomplete last page only when it reads that page.
            let isInLastPage = count > whole.count - 4_096
            try expectUsable(after: whole.prefix(count), "\(count) bytes", rebuilds: isInLastPage ? nil : 1)
        }
    }

    @Test("a store with flipped bits is usable", arguments: LongTests.value(0..<150, short: 0..<32) as Range<UInt64>)
    func flipped(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var damaged = whole
        for _ in 0..<[1, 3, 30, 300][Int(seed % 4)] {
            damaged[Int.random(in: 0..<damaged.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        try expectUsable(after: damaged, "seed \(seed)", rebuilds: nil)
    }

    /// After a loss of power the file has some of the pages that the last transactions wrote, because nothing waits for the
    /// disk. The journal is empty, or from before.
    @Test(
        "a store with any page that a push wrote is usable",
        arguments: LongTests.value(0..<200, short: 0..<40) as Range<UInt64>)
    func powerLoss(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let later = try folder.copy()
        // Every other file has so many more messages that pages were divided: then a part of them is damage.
        let store = later.store()
        for number in 0..<(seed.isMultiple(of: 2) ? Int(seed % 40 + 1) : 200) {
            let claim = try store.claim("later-\(number)", issuedAt: StoreFolder.now, expiresAt: StoreFolder.now + 60)
            _ = try store.record(
                DeliveryRecord(claim: claim.get(), isShown: true, report: .sample(nil, "later-\(number)")))
        }
        let after = try Data(contentsOf: later.file)
        var mixed = Data(capacity: after.count)
        for start in stride(from: 0, to: after.count, by: 4_096) {
            let isWritten = start >= whole.count || Bool.random(using: &random)
            mixed += (isWritten ? after : whole)[start..<start + 4_096]
        }
        try expectUsable(after: mixed, "seed \(seed)", rebuilds: nil)
    }

    @Test(
        "a file that isn't a database is replaced by a new store",
        arguments: ["text", "SQLite format 3\0", String(repeating: "x", count: 10_000)])
    func foreign(_ text: String) throws {
        try expectUsable(after: Data(text.utf8), text, rebuilds: 1)
    }

    @Test(
        "a database with another schema or changed numbers is rebuilt once",
        arguments: [
            "DROP TABLE message", "ALTER TABLE counter RENAME COLUMN recent TO old", "PRAGMA user_version = 2",
            "PRAGMA user_version = 4", "PRAGMA user_version = 0", "PRAGMA application_id = 1",
            "PRAGMA application_id = 0x50430002; PRAGMA user_version = 2", "UPDATE reader SET latest = 1 << 50",
            "UPDATE reader SET confirmed = 1 << 50", "UPDATE reader SET since = 0", "UPDATE reader SET floor = 1 << 50",
            "UPDATE reader SET latest = 'x'", "UPDATE reader SET digest = digest + 1",
        ] as [StaticString])
    func changed(_ change: StaticString) throws {
        let copy = try folder.copy()
        try copy.script(change)
        try expectUsable(copy, "\(change)", rebuilds: 1)
    }

    @Test("an empty or invalid journal next to the store is ignored", arguments: [0, 1, 512, 4_096])
    func journal(_ count: Int) throws {
        let copy = try folder.copy()
        try Data(repeating: 0xd9, count: count).write(to: URL(fileURLWithPath: copy.file.path + "-journal"))
        try expectUsable(copy, "journal", rebuilds: 0)
    }

    @Test("an open store whose file is overwritten is replaced by the next call and counted each time")
    func underway() throws {
        let (store, other) = (folder.store(), folder.store())
        for round in 1...3 {
            #expect(try !store.claim("message-0"))
            try Data(repeating: 0, count: whole.count).write(to: folder.file)
            #expect(try store.claim("message-0"))
            #expect(try !other.claim("message-0"))
            #expect(try other.statistics().rebuildCount == round)
        }
    }

    @Test("the unfinished new store of a killed process is removed")
    func unfinished() throws {
        let fresh = StoreFolder()
        try FileManager.default.createDirectory(atPath: fresh.path, withIntermediateDirectories: false)
        try Data(repeating: 1, count: 5_000).write(to: URL(fileURLWithPath: fresh.file.path + ".new"))
        #expect(try fresh.store().claim("a"))
        #expect(try fresh.store().statistics().rebuildCount == 0)
        #expect(!FileManager.default.fileExists(atPath: fresh.file.path + ".new"))
    }
}
