import Testing

@testable import PushCryptLives

@Suite("Lives of a keystore with real files")
struct DiskLivesTests {
    @Test(
        "Whatever happens to real files, no invariant breaks, and one restoration and one publication end it",
        arguments: stride(from: UInt64(0), to: 50, by: 5).map { $0..<($0 + 5) })
    func lives(_ seeds: Range<UInt64>) {
        if let broken = Life.report(seeds, in: { DiskWorld() }) { Issue.record("\(broken)") }
    }
}
