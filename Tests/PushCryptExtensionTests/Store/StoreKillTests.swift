import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite("a store whose processes are killed at any moment")
struct StoreKillTests {
    /// Each round goes on with the store that the last one left.
    @Test("is whole, and remembers what it said that it remembers", arguments: 0..<8 as Range<UInt64>)
    func hammer(_ seed: UInt64) throws {
        let folder = try StoreFolder()
        var random = SplitMix64(seed: seed)
        var (claimed, seen) = (Set<String>(), Set<String>())
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
            claimed.formUnion(Self.ids("claimed", lines))
            seen.formUnion(Self.ids("seen", lines))
            try expectWhole(folder, claimed, seen)
        }
        #expect(seen.count > 20 && claimed.count > seen.count)
    }

    private func expectWhole(_ folder: StoreFolder, _ claimed: Set<String>, _ seen: Set<String>) throws {
        let store = folder.store()
        #expect(try store.statistics().rebuildCount == 0)
        #expect(try folder.integrity() == ["ok"])
        // The children's clocks don't get so far that claims lapse by this one.
        for id in seen {
            #expect(try !store.claim(id, issuedAt: StoreFolder.now, at: StoreFolder.now + 1_000_000), "\(id)")
        }
        // One that was killed before it was shown is granted again.
        if let lost = claimed.subtracting(seen).min() {
            #expect(try store.claim(lost, issuedAt: StoreFolder.now, at: StoreFolder.now + 1_000_000), "\(lost)")
        }
    }

    private static func ids(_ word: String, _ lines: [String]) -> [String] {
        lines.filter { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
    }

    private func pause(nanoseconds: Int) {
        var wanted = timespec(tv_sec: 0, tv_nsec: nanoseconds)
        _ = unsafe nanosleep(&wanted, nil)
    }
}

@Suite("a store that several processes use at once")
struct StoreCrowdTests {
    @Test("each message is granted once", arguments: [2, 4])
    func claims(_ count: Int) throws {
        let folder = try StoreFolder()
        let crowd = try (0..<count).map { _ in try ExtensionProcess.start("store-claim", folder.path, "300") }
        let granted = crowd.map { $0.remainingLines() }
        for process in crowd { #expect(try process.process.wait() == .exit(0)) }
        #expect(granted.joined().compactMap(Int.init).sorted() == Array(0..<300))
        #expect(try folder.integrity() == ["ok"])
    }

    @Test("a damaged one is rebuilt once", arguments: 0..<5)
    func rebuild(_ round: Int) throws {
        let folder = try StoreFolder()
        try folder.fill()
        try Data(repeating: 7, count: 50_000).write(to: folder.file)
        let crowd = try (0..<4).map { _ in try ExtensionProcess.start("store-claim", folder.path, "20") }
        let granted = crowd.map { $0.remainingLines() }
        for process in crowd { #expect(try process.process.wait() == .exit(0)) }
        #expect(granted.joined().compactMap(Int.init).sorted() == Array(0..<20))
        #expect(try folder.store().statistics().rebuildCount == 1)
    }
}
