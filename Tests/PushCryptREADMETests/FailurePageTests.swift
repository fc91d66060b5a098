import PushCryptCore
import Testing

@Suite("the pages about failure classes") struct FailurePageTests {
    @Test("section 8 of the protocol names each failure class once, and no other")
    func section() throws {
        let page = try Documents.text(of: "docs/protocol.md")
        let section = try #require(page.firstMatch(of: /\n## 8\. Failures\n((?s).*?)\n## 9\./)).1
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let names = rows.flatMap { $0.split(separator: "|")[0].matches(of: /`([A-Za-z]+)`/).map { String($0.1) } }
        #expect(names == FailureClass.Defined.allCases.map(\.rawValue))
    }

    @Test("the guide for recipients says what to check after failure classes of the protocol, each once")
    func guide() throws {
        let rows = try Documents.text(of: "docs/receiving.md").matches(of: /\n\| `([A-Za-z]+)` \| [A-Z`]/)
        let names = rows.map { String($0.1) }
        #expect(names.count >= 12 && Set(names).count == names.count)
        #expect(Set(names).isSubset(of: FailureClass.Defined.allCases.map(\.rawValue)))
    }
}
