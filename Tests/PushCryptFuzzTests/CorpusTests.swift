import Foundation
import PushCryptFuzzTargets
import Testing

@Suite("Fuzzing: the committed inputs")
struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fuzz/corpora")

    @Test("Every input of a target's corpus has the target's properties", arguments: FuzzTarget.all)
    func runsCorpus(_ target: FuzzTarget) throws {
        let text = try String(contentsOf: Self.folder.appendingPathComponent(target.name), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count >= 5, "the corpus is missing")
        for line in lines {
            let base64 = String(line.split(separator: " ", omittingEmptySubsequences: false).last ?? "")
            let input = try #require(Data(base64Encoded: base64), "Tests/Fuzz/corpora/\(target.name): \(line)")
            #expect(throws: Never.self, "Tests/Fuzz/corpora/\(target.name): \(line)") { try target.run(Array(input)) }
        }
    }

    @Test("Each file of inputs belongs to a target")
    func everyFileIsATarget() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(files) == Set(FuzzTarget.all.map(\.name)))
    }
}
