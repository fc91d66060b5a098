import Foundation
import Testing

/// The guides to the simulator show recipes that are tests of this package.
@Suite("guides to the simulator") struct SimulatorGuideTests {
    private static let guides = "Sources/PushCryptSimulator/PushCryptSimulator.docc"
    private static let recipes = "Tests/PushCryptSimulatorTests/Recipes"

    @Test("the guides show or name every recipe once, and no other Swift code") func showsAllRecipes() throws {
        let shown = try Documents.files(in: Self.guides, withSuffix: ".md").flatMap { guide in
            try Documents.blocks(of: "swift", in: guide).map { $0.text + "\n" }
        }
        let page = try Documents.text(of: Self.guides + "/SimulatorRecipes.md")
        let files = Documents.files(in: Self.recipes, withSuffix: ".swift")
        let recipes = try files.map {
            (name: $0.components(separatedBy: "/").last ?? "", text: try Documents.text(of: $0))
        }
        #expect(!recipes.isEmpty && Set(shown).isSubset(of: recipes.map(\.text)))
        for (name, text) in recipes {
            let isNamed = page.contains("| `\(name)` |")
            #expect(isNamed != shown.contains(text), "\(name)")
        }
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
