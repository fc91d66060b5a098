import Foundation
import Testing

@Suite("the pages about security") struct SecurityPageTests {
    @Test("each section of docs/security.md that claims something names its tests")
    func sections() throws {
        let sections = try Documents.text(of: "docs/security.md").components(separatedBy: "\n## ").dropFirst()
        let silent = sections.filter { !$0.contains(/Tests( of these limits)?:\s+`[A-Za-z0-9]+Tests`/) }
        #expect(silent.map { $0.prefix { $0 != "\n" } } == ["What a backend has to do itself"])
    }

    @Test("each claim of docs/security.md names where it is enforced and tested")
    func claims() throws {
        let page = try Documents.text(of: "docs/security.md")
        let table = try #require(page.firstMatch(of: /\n\| claim \| enforced in \| tested in \|\n.*\n((?:\|.*\n)+)/)).1
        let rows = table.split(separator: "\n").map { $0.split(separator: "|") }
        #expect(rows.count >= 28)
        for row in rows { #expect(row.count == 3 && row[1].contains("`PushCrypt") && row[2].contains("Tests`")) }
    }
}
