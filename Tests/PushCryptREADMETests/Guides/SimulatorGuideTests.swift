import Foundation
import Testing

/// The guides to the simulator show recipes that are tests of this package.
@Suite("guides to the simulator") struct SimulatorGuideTests {
    private static let guides = "Sources/PushCryptSimulator/PushCryptSimulator.docc"
    private static let recipes = "Tests/PushCryptSimulatorTests/Recipes"

    @Test("the guides show every recipe once, and no other Swift code") func showsAllRecipes() throws {
        let shown = try Documents.files(in: Self.guides, withSuffix: ".md").flatMap { guide in
            try Documents.blocks(of: "swift", in: guide).map { $0.text + "\n" }
        }
        let files = try Documents.files(in: Self.recipes, withSuffix: ".swift").map(Documents.text(of:))
        #expect(!files.isEmpty && shown.sorted() == files.sorted())
    }

    @Test("each row says what the phone does and names a page, or that Apple's pages are silent") func rows() throws {
        let rows = try Self.rows()
        #expect(rows.count >= 82)
        for row in rows { #expect(row.count == 2 && !row.contains(""), "\(row)") }
    }

    /// The cells of the tables without their heads.
    private static func rows() throws -> [[String]] {
        try Documents.text(of: guides + "/WhatIsModelled.md").components(separatedBy: "\n")
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }
            .map {
                $0.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
            }
            .filter { $0[0] != "the simulator" }
    }
}
