import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite("SharedStore after a kill")
struct StoreKillTests {
    /// Each round continues with the store of the previous round.
    @Test(
        "after any kill the store is intact and has all messages",
        arguments: LongTests.value(0..<8, short: 0..<3) as Range<UInt64>)
    func hammer(_ seed: UInt64) throws {
        let folder = StoreFolder()
        var random = SplitMix64(seed: seed)
        var claimed = Set<String>()
        var seen = Set<String>()
        var lostCount = 0
        var torn = 0
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
