import Foundation
import Testing

/// The guides to the simulator show recipes that are tests of this package, and their table names tests that exist.
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

    @Test("each row of the tables has a page and a test that exists") func rows() throws {
        let rows = try Documents.text(of: Self.guides + "/WhatIsModelled.md").components(separatedBy: "\n")
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }
            .map {
                $0.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
            }
            .filter { !["documented", "wanted"].contains($0[0]) }
        // The rows of the present tables: none is dropped while its behaviour stays.
        #expect(rows.count >= 93)
        for row in rows {
            try #require(row.count == 4 && !row.contains(""), "\(row)")
            let named = row[3].matches(of: #/`([A-Za-z]+)`, "([^"]+)"/#)
            #expect(!named.isEmpty, "\(row)")
            for test in named {
                #expect(Self.declares(String(test.1), "\"\(test.2)\""), "\(test.0)")
            }
            #expect(named.map { String($0.0) }.joined(separator: "; ") == row[3], "\(row)")
        }
    }

    @Test("each file of recipes is in the tables") func allRecipes() throws {
        let page = try Documents.text(of: Self.guides + "/WhatIsModelled.md")
        for file in Documents.files(in: Self.recipes, withSuffix: ".swift") where !file.hasSuffix("Payload.swift") {
            let suite = file.components(separatedBy: "/").last?.replacing(".swift", with: "") ?? ""
            #expect(page.contains("`\(suite)`"), "\(suite)")
        }
    }

    /// Whether the file that declares the suite has a test of this name.
    private static func declares(_ suite: String, _ literal: String) -> Bool {
        Sources.tests.contains { text in
            (text.contains("struct \(suite) {") || text.contains("struct \(suite): "))
                && text.replacing(#/@Test\(\s*/#, with: "@Test(").contains("@Test(" + literal)
        }
    }
}
