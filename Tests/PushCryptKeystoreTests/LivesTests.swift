import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptLives

/// Random lives of a keystore over the real operations, with files in memory.
@Suite("Lives of a keystore") struct LivesTests {
    /// `Tests/deep/keystore/run` has a million.
    private static let count: UInt64 = LongTests.value(10_000, short: 500)
    private static let parts: [Range<UInt64>] = stride(from: 0, to: count, by: Int(count / 20)).map {
        $0..<($0 + count / 20)
    }

    @Test("Whatever happens, no invariant breaks, and one restoration and one publication end it", arguments: parts)
    func lives(_ seeds: Range<UInt64>) {
        if let broken = Life.report(seeds) { Issue.record("\(broken)") }
    }

    /// One rule needs thousands of lives to show.
    private static let rules = KeystoreRule.allCases.filter { LongTests.areEnabled || $0 != .publisherPoint }

    @Test("A keystore without one of the rules breaks", arguments: rules)
    func mutation(_ rule: KeystoreRule) {
        KeystoreRule.$off.withValue([rule]) {
            #expect(Life.search(0..<100_000, Self.kind(rule)) != nil, "nothing broke without the rule \(rule)")
        }
    }

    /// The lives that soon show that a rule is needed.
    private static func kind(_ rule: KeystoreRule) -> Life.Kind? {
        switch rule {
        case .writer: .copies
        case .oneFile: .files
        case .clock, .shift, .openEnds, .issueRises: .clocks
        case .restoreLogs, .publisherPoint, .overLines: .forks
        case .servedPoint, .servedRevoked, .restoreServed, .numberAbove, .lost: .snapshots
        default: nil
        }
    }
}

@Suite("Lives of a keystore with real files") struct DiskLivesTests {
    @Test(
        "Whatever happens to real files, no invariant breaks, and one restoration and one publication end it",
        arguments: stride(from: UInt64(0), to: LongTests.value(50, short: 20), by: 5).map { $0..<($0 + 5) })
    func lives(_ seeds: Range<UInt64>) {
        if let broken = Life.report(seeds, in: { DiskWorld() }) { Issue.record("\(broken)") }
    }
}
