import Foundation
import Testing

/// The table of demands names public sources, and tests that exist.
@Suite("what apps ask") struct DemandTests {
    /// A row that a change in progress completes: `<!-- pending: NAME -->`.
    private static let pending = "<!-- pending: "

    private static func rows() throws -> [[String]] {
        try Documents.text(of: "docs/what-apps-ask.md").components(separatedBy: "\n")
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| demand") && !$0.hasPrefix("| ---") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    @Test("at least 25 demands have a source, an answer and a proof") func demands() throws {
        let rows = try Self.rows().filter { !$0[0].contains(Self.pending) }
        #expect(rows.count >= 25)
        for row in rows {
            try #require(row.count == 4, "\(row)")
            #expect(row.allSatisfy { !$0.isEmpty }, "\(row)")
            #expect(row[1].contains("](https://"), "\(row)")
        }
    }

    @Test("each proof is a suite that is declared, or a path") func proofs() throws {
        for row in try Self.rows() where row.count == 4 {
            for name in row[3].matches(of: #/`([^`]+)`/#).map({ String($0.1) }) where !name.contains("/") {
                #expect(name.hasSuffix("Tests") && Sources.declared.contains(name), "\(name)")
            }
        }
    }
}
