import Foundation
import PushCryptPrimitives
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

@Suite("SharedStore after a kill")
struct StoreKillTests {
    /// Each round continues with the store of the previous round.
    @Test(
        "after any kill the store is intact and has all messages",
        arguments: LongTests.value(0..<8, short: 0..<3) as Range<UInt64>)
    func hammer(_ seed: UInt64) throws {
        let folder = StoreFolder()
        var random = SplitMix64(seed: seed)
        var (claimed, seen) = (Set<String>(), Set<String>())
        var (lostCount, torn) = (0, 0)
        for round in 0..<6 {
            let names = ["\(round)a", "\(round)b"].prefix(Int.random(in: 1...2, using: &random))
            let running = try names.map { try ExtensionProcess.start("store-hammer", folder.path, $0) }
            var lines = running.flatMap { process in
                (0..<Int.random(in: 0...20, using: &random)).compactMap { _ in process.line() }
            }
            pause(nanoseconds: Int.random(in: 0...3_000_000, using: &random))
            for process in running {
                process.process.kill()
                lines += process.remainingLines()
                #expect(try process.process.wait() == .signal(SIGKILL))
            }
            // Every third message is never marked as seen. For the others the line may be missing because of the kill.
            claimed.formUnion(Self.ids("claimed", lines).filter { Self.number($0) % 3 == 0 })
            seen.formUnion(Self.ids("seen", lines))
            torn += folder.hasJournal ? 1 : 0
            try expectWhole(folder, seen)
            // A message whose process was killed before it was shown is granted again once.
            if let lost = claimed.popFirst() {
                #expect(try claim(lost, folder.store()) && !claim(lost, folder.store()), "\(lost)")
                lostCount += 1
            }
        }
        #expect(seen.count > 20 && lostCount > 0)
        print("\(seen.count) seen, \(lostCount) lost, killed \(torn) times of 6 within a transaction")
    }

    /// The system kills a process that writes beyond its file size limit: here at a page of the database, after the earlier
    /// pages were written. The short form uses five of the pages.
    @Test(
        "after a kill during a write the store is intact and has all reported messages",
        .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsFiles)"),
        arguments: LongTests.value(Array(12..<36), short: [12, 17, 23, 29, 35]))
    func midway(_ page: Int) throws {
        let folder = StoreFolder()
        let store = folder.store()
        for number in 0..<600 {
            _ = try store.claim(Self.spread(number))
            try store.markSeen(Self.spread(number))
        }
        let script = "ulimit -c 0; ulimit -f \(page * 8); exec \"$EXTENSION\" store-hammer '\(folder.path)' \(page)"
        let output = try ExtensionProcess.shell(script)
        #expect(output.ending == .signal(SIGXFSZ))
        #expect(folder.hasJournal)
        try expectWhole(folder, Set((0..<600).map(Self.spread) + Self.ids("seen", output.lines)))
    }

    /// Returns an id. Consecutive numbers give ids in different pages of the table.
    private static func spread(_ number: Int) -> String { "\(number * 7_919 % 1_000)-of-\(number)" }

    private func expectWhole(_ folder: StoreFolder, _ seen: Set<String>) throws {
        let store = folder.store()
        #expect(try store.statistics().rebuildCount == 0)
        #expect(try folder.integrity() == ["ok"])
        for id in seen { #expect(try !claim(id, store), "\(id)") }
    }

    /// Claims the message at a time when the claims of the child processes have lapsed.
    private func claim(_ id: String, _ store: SharedStore) throws -> Bool {
        try store.claim(id, at: StoreFolder.now + 1_000_000)
    }

    private static func ids(_ word: String, _ lines: [String]) -> [String] {
        lines.filter { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
    }

    private static func number(_ id: String) -> Int { id.split(separator: "-").last.flatMap { Int($0) } ?? 1 }
}

@Suite("SharedStore used by several processes")
struct StoreCrowdTests {
    private func expectEachGrantedOnce(_ folder: StoreFolder, processes: Int, messages: Int) throws {
        let crowd = try (0..<processes).map { _ in
            try ExtensionProcess.start("store-claim", folder.path, "\(messages)")
        }
        let granted = crowd.map { $0.remainingLines() }
        for process in crowd { #expect(try process.process.wait() == .exit(0)) }
        #expect(granted.joined().compactMap(Int.init).sorted() == Array(0..<messages))
    }

    @Test("several processes are granted each message once", arguments: [2, 4])
    func claims(_ count: Int) throws {
        let folder = StoreFolder()
        try expectEachGrantedOnce(folder, processes: count, messages: 300)
        #expect(try folder.integrity() == ["ok"])
    }

    private func damagedFolder() throws -> StoreFolder {
        let folder = StoreFolder()
        try folder.fill()
        try Data(repeating: 7, count: 50_000).write(to: folder.file)
        return folder
    }

    @Test("a damaged store is rebuilt once if eight threads find it", arguments: LongTests.value(0..<20, short: 0..<5))
    func rebuildByThreads(_ round: Int) throws {
        let (folder, grantedCount) = (try damagedFolder(), Locked(0))
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            let store = folder.store { $0.busyTimeout = .seconds(60) }
            if (try? store.claim("\(number)")) == true { grantedCount.withLock { $0 += 1 } }
        }
        #expect(grantedCount.withLock { $0 } == 8)
        let store = folder.store()
        #expect(try store.statistics().rebuildCount == 1)
        for number in 0..<8 { #expect(try !store.claim("\(number)")) }
    }

    @Test("a damaged store is rebuilt once if four processes find it", arguments: LongTests.value(0..<5, short: 0..<2))
    func rebuild(_ round: Int) throws {
        let folder = try damagedFolder()
        try expectEachGrantedOnce(folder, processes: 4, messages: 20)
        #expect(try folder.store().statistics().rebuildCount == 1)
    }
}

extension StoreFolder {
    /// Whether an unfinished transaction left a journal: the end of a transaction overwrites its first byte with zero.
    fileprivate var hasJournal: Bool {
        (try? Data(contentsOf: URL(fileURLWithPath: file.path + "-journal")))?.first ?? 0 != 0
    }
}
