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
        let rows = try Self.rows()
        // The rows of the present tables: none is dropped while its behaviour stays.
        #expect(rows.count >= 93)
        for row in rows {
            try #require(row.count == 5 && !row.contains(""), "\(row)")
            let named = row[3].matches(of: #/`([A-Za-z]+)`, "([^"]+)"/#)
            #expect(!named.isEmpty, "\(row)")
            for test in named {
                #expect(Self.declares(String(test.1), "\"\(test.2)\""), "\(test.0)")
            }
            #expect(named.map { String($0.0) }.joined(separator: "; ") == row[3], "\(row)")
        }
    }

    @Test("each row says how the tool does it, by an option or an event that exists, and each event is in a row")
    func tool() throws {
        let help = try Self.help()
        let events = try Set(Self.events())
        let options = Set(help.matches(of: #/--[a-z-]+/#).map { String($0.0) })
        var named: Set<String> = []
        var ownCodeCount = 0
        for row in try Self.rows() {
            switch row[4] {
            case "a payload", "a payload with its headers": continue
            case "your own code": ownCodeCount += 1
            default:
                let names = row[4].matches(of: #/`([^`]+)`/#).map { String($0.1) }
                #expect(names.map { "`\($0)`" }.joined(separator: ", ") == row[4], "\(row)")
                for name in names { #expect(options.contains(name) || events.contains(name), "\(name)") }
                named.formUnion(names)
            }
        }
        #expect(named.isSuperset(of: events), "\(events.subtracting(named))")
        // What needs code of the app: its stages, receipts, a handler that misbehaves, work at the same time.
        #expect(ownCodeCount <= 16)
    }

    @Test("docs/simulator.md describes each event of the tool once, and no other") func events() throws {
        let rows = try Documents.text(of: "docs/simulator.md").components(separatedBy: "\n").filter {
            $0.hasPrefix("| `{\"event\": ")
        }
        let names = rows.compactMap { $0.firstMatch(of: #/"event": "([A-Za-z]+)"/#).map { String($0.1) } }
        #expect(try names.sorted() == Self.events().sorted())
    }

    @Test("the tool accepts the event in each row of docs/simulator.md") func rowsAreAccepted() throws {
        let rows = try Documents.text(of: "docs/simulator.md").components(separatedBy: "\n")
        let lines = rows.compactMap { $0.firstMatch(of: #/^\| `(\{"event": .*?\})` \|/#).map { String($0.1) } }
        #expect(lines.count >= 30)
        let commands = lines.map { "echo '\($0)' | pushcrypt simulate 2>&1 >/dev/null | grep -v 'without --keys'" }
        for (line, output) in zip(lines, try TranscriptTests.run(commands)) {
            // The event alone may be impossible, such as a tap on a notification that isn't there. Its grammar must be right.
            let mistake = #/has no member|needs [a-z]|there is no event|: [A-Za-z]+ isn't (a|an|one|true) /#
            #expect(!output.contains(mistake), "\(line): \(output)")
        }
    }

    @Test("each file of recipes is in the tables") func allRecipes() throws {
        let page = try Documents.text(of: Self.guides + "/WhatIsModelled.md")
        for file in Documents.files(in: Self.recipes, withSuffix: ".swift") where !file.hasSuffix("Payload.swift") {
            let suite = file.components(separatedBy: "/").last?.replacing(".swift", with: "") ?? ""
            #expect(page.contains("`\(suite)`"), "\(suite)")
        }
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
            .filter { !["documented", "wanted"].contains($0[0]) }
    }

    private static func help() throws -> String { try TranscriptTests.run(["pushcrypt simulate --help"])[0] }

    /// The names of the events, from the tool's help.
    private static func events() throws -> [String] {
        let help = try help().split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let list = try #require(help.firstMatch(of: #/NAME is one of: ([A-Za-z, ]+)\./#))
        return list.1.components(separatedBy: ", ")
    }

    /// Whether the file that declares the suite has a test of this name.
    private static func declares(_ suite: String, _ literal: String) -> Bool {
        Sources.tests.contains { text in
            (text.contains("struct \(suite) {") || text.contains("struct \(suite): "))
                && text.replacing(#/@Test\(\s*/#, with: "@Test(").contains("@Test(" + literal)
        }
    }
}
