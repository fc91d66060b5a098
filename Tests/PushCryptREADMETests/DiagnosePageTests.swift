import Foundation
import PushCryptExtension
import Testing

@Suite("docs/diagnose.md") struct DiagnosePageTests {
    @Test("The table lists each finding of the command once, and no other")
    func names() throws {
        let lines = try Documents.text(of: "docs/diagnose.md").components(separatedBy: "\n")
        let rows = lines.filter { $0.hasPrefix("| `") }
        let first = rows.map { $0.components(separatedBy: " | ")[0] }
        let listed = first.flatMap { $0.matches(of: #/`([a-z]+(?:-[a-z]+)+)`/#).map { String($0.1) } }
        #expect(Set(listed).count == listed.count)
        let found = try Self.namesInSources()
        #expect(found.count > 80)
        // The pattern doesn't find names that are made of APNs' reasons, and one after another text.
        let others: Set = ["apns-bad-device-token", "apns-refused", "store-unavailable"]
        #expect(Set(listed) == found.union(others))
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

    /// The name is the first text of a fault, or the first two where a condition chooses one.
    private static func namesInSources() throws -> Set<String> {
        let folder = Documents.packageRoot.appendingPathComponent("Sources/PushCryptCLI/Commands/Diagnose")
        var names: Set<String> = []
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for file in files where file.contains("Faults") || file == "FailureText.swift" {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            let name = #/(?:Fault\([^"]*|name: )"([a-z]+(?:-[a-z]+)+)"(?:\s*:\s*"([a-z]+(?:-[a-z]+)+)")?/#
            for match in text.matches(of: name) {
                names.insert(String(match.1))
                if let other = match.2 { names.insert(String(other)) }
            }
        }
        return names
    }
}
