import Foundation
import Testing

@Suite("the fault points of the keystore", .ownThreads)
struct FaultPointTests {
    /// Fails for a new fault point without a test.
    @Test("every fault point in the sources is named by a test")
    func all() throws {
        let named =
            ChangePoint.allCases.map(\.rawValue) + KilledCreationTests.points
            + ["publication", "log", "restore-log", "restore-save", "history"].flatMap { name in
                ["created", "written", "synced", "renamed"].map { "\(name)-\($0)" }
            }
            + ["create-published", "log-set-aside", "leftover-removed", "keys-read", "hook-succeeded"]
            + ["backup-created", "backup-written", "backup-published"]
        #expect(try points() == Set(named))
    }

    private func points() throws -> Set<String> {
        let steps = try literals(in: "PushCryptFiles", /step\("([a-z-]+)"\)/)
        let reached = try ["PushCryptKeystore", "PushCryptCLI"].flatMap { target in
            try literals(in: target, /FaultPoint\.reach\("([a-z-]+(?:\\\(\$0\))?)"\)/)
        }
        return Set(
            reached.flatMap { name in
                name.hasSuffix("\\($0)") ? steps.map { name.dropLast(5) + $0 } : [name]
            })
    }

    private func literals(in target: String, _ pattern: Regex<(Substring, Substring)>) throws -> [String] {
        let folder = Repository.root.appendingPathComponent("Sources/\(target)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try names.flatMap { name in
            try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8).matches(of: pattern)
                .map { String($0.1) }
        }
    }
}

enum FaultPoints {
    static let missing: Comment = "a release build has no fault points"

    #if DEBUG
    static let exist = true
    #else
    static let exist = false
    #endif
}
