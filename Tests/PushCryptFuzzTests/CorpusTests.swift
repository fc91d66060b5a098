import Foundation
import PushCryptFuzzTargets
import Testing

@Suite("Fuzzing: the committed inputs")
struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fuzz/corpora")

    @Test("Every input of a target's corpus has the target's properties", arguments: FuzzTarget.all)
    func runsCorpus(_ target: FuzzTarget) throws {
        let folder = Self.folder.appendingPathComponent(target.name)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names.count >= 5, "the corpus is missing")
        for name in names {
            let input = Array(try Data(contentsOf: folder.appendingPathComponent(name)))
            #expect(throws: Never.self, "Tests/Fuzz/corpora/\(target.name)/\(name)") { try target.run(input) }
        }
    }

    @Test("Each folder of inputs belongs to a target")
    func everyFolderIsATarget() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}
