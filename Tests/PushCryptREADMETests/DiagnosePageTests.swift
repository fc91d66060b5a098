import Foundation
import PushCryptExtension
import Testing

@Suite("docs/diagnose.md") struct DiagnosePageTests {
    @Test("The table lists each finding of the command once, and no other")
    func names() throws {
        let lines = try Documents.text(of: "docs/diagnose.md").components(separatedBy: "\n")
        let rows = lines.filter { $0.hasPrefix("| `") }
        let first = rows.map { $0.components(separatedBy: " | ")[0] }
        let listed = first.flatMap { $0.matches(of: #/`([a-z]+(?:-[a-z]+)*)`/#).map { String($0.1) } }
        #expect(Set(listed).count == listed.count)
        let source = try Documents.text(of: "Sources/PushCryptCLI/Commands/Diagnose/Finding.swift")
        let named = source.matches(of: #/case \w+ = "([a-z-]+)"/#).map { String($0.1) }
        #expect(named.count > 30 && Set(listed) == Set(named))
    }

    @Test("The sample of a device's report is read, and written with the same members")
    func sampleReport() throws {
        let block = try #require(Documents.blocks(of: "json", in: "docs/diagnose.md").first)
        let sample = Data(block.text.utf8)
        let written = try DeviceReport(json: sample).json()
        let (shown, known) = try (
            JSONSerialization.jsonObject(with: sample) as? NSDictionary,
            JSONSerialization.jsonObject(with: written) as? NSDictionary
        )
        #expect(shown != nil && shown == known)
    }
}
