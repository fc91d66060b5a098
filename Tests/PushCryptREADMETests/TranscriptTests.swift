import Foundation
import PushCryptTestSupport
import Testing

/// Runs the commands of each page's transcripts from top to bottom, in one shell and one folder, and compares what they print.
@Suite("transcripts of the documents")
struct TranscriptTests {
    @Test(
        "The commands of a page print what it shows, and those to start again remove every file that they made",
        arguments: try Transcript.all())
    func output(_ transcript: Transcript) throws {
        let outputs = try Self.run(transcript.steps.map(\.commands)) { folder in
            for file in try Self.secretFiles(in: folder) { Issue.record("\(file)") }
            let removal = "test ! -d trial || cd trial; " + transcript.removals.joined(separator: " && ")
            let shell = ChildProcess(executable: "/bin/sh", arguments: ["-ec", removal], folder: folder.path)
            let ending = try shell.run()
            #expect(!transcript.removals.isEmpty && ending == .exit(0), "\(removal)")
            let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            #expect(Set(left).subtracting(["output", "Keys"]) == [], "\(removal)")
        }
        try #require(outputs.count == transcript.steps.count)
        var stable = Self.StableLines()
        for (step, output) in zip(transcript.steps, outputs) {
            stable.learnKeyIDs(shown: step.output, printed: output)
            // The errors of a program and the output of the next one in a pipeline come in any order.
            let (shown, printed) = (stable.shown(step.output), stable.printed(output))
            let isPipeline = step.commands.contains("|")
            #expect(
                isPipeline ? shown.sorted() == printed.sorted() : shown == printed,
                "after \(step.commands): \(printed)")
        }
    }

    @Test("The README and four guides have a transcript of at least five steps, and two pages a shorter one")
    func found() throws {
        let found = Dictionary(uniqueKeysWithValues: try Transcript.all().map { ($0.document, $0.steps) })
        let guides = ["README.md"] + ["attachments", "campaigns", "rotation", "simulator"].map { "docs/\($0).md" }
        #expect(Set(found.keys) == Set(guides + ["docs/diagnose.md", "docs/sidecar.md"]))
        #expect(guides.allSatisfy { found[$0, default: []].count >= 5 })
    }

    /// The sections of a page that have commands with output.
    struct Transcript: Sendable, CustomStringConvertible {
        let document: String
        let steps: [Step]
        /// The commands to start again.
        let removals: [String]

        var description: String { document }

        static func all() throws -> [Transcript] {
            try Documents.tested.compactMap { document in
                let sections = Dictionary(
                    grouping: try Documents.blocks(in: document).enumerated(), by: \.element.heading)
                let steps = sections.values.sorted { $0[0].offset < $1[0].offset }.map { Step.steps($0.map(\.element)) }
                    .filter { steps in steps.contains { $0.output != "" } }.flatMap(\.self)
                let text = try Documents.prose(of: document).replacing("\n", with: " ")
                let removals = text.matches(of: /To start again, run `([^`]+)`/).map { String($0.1) }
                return steps.isEmpty ? nil : Transcript(document: document, steps: steps, removals: removals)
            }
        }
    }

    /// Commands and the output that follows them.
    struct Step {
        let commands: String
        let output: String

        static func steps(_ blocks: [Documents.Block]) -> [Step] {
            blocks.enumerated().compactMap { index, block in
                guard block.language == "sh" else { return nil }
                let next = blocks.dropFirst(index + 1).first
                return Step(commands: block.text, output: next?.language == "text" ? next?.text ?? "" : "")
            }
        }
    }

    /// Runs all commands in one shell in a new folder, with the built `pushcrypt` in its path.
    ///
    /// - Parameter tools: shell functions that replace tools.
    /// - Parameter examine: looks at the folder after the last command.
    /// - Returns: the output of each step on stdout and stderr.
    static func run(
        _ commands: [String], replacing tools: String = "", examine: (URL) throws -> Void = { _ in }
    ) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let separator = "== next step =="
        // The transcript builds first, which isn't necessary here. The output is a file, because the processes of other tests
        // could inherit a pipe and keep it open.
        let preparation = "exec >output 2>&1; swift() { :; }; \(tools)\n"
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = "\(try buildFolder().path):\(environment["PATH"] ?? "/usr/bin:/bin")"
        // Not every machine has an id.
        environment["PUSHCRYPT_WRITER"] = "host"
        let shell = ChildProcess(
            executable: "/bin/sh",
            arguments: ["-c", preparation + commands.joined(separator: "\necho '\(separator)'\n")],
            environment: environment, folder: folder.path)
        _ = try shell.run()
        try examine(folder)
        let text = try String(contentsOf: folder.appendingPathComponent("output"), encoding: .utf8)
        return text.components(separatedBy: separator + "\n").map { $0.hasSuffix("\n") ? String($0.dropLast()) : $0 }
    }

    /// The files with a private key, a psk, the key of a blob or the text of a notification that git would commit or other users can read.
    private static func secretFiles(in folder: URL) throws -> [String] {
        let secret = #/"(?:d|k|psk|key)":"[A-Za-z0-9_-]{43}"/#
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().filter { path in
            let file = folder.appendingPathComponent(path)
            guard let bytes = FileManager.default.contents(atPath: file.path) else { return false }
            let text = String(decoding: bytes, as: UTF8.self)
            guard text.contains(secret) || text.contains("Dr. Amara Osei") && path != "output" else { return false }
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
            let isIgnored = path.hasPrefix("Keys/") || path.hasPrefix("trial/Keys/") || path.hasSuffix(".keyset")
            return !isIgnored || text.contains(secret) && mode & 0o077 != 0
        }
    }

    /// The folder of the built `pushcrypt` and tests.
    static func buildFolder() throws -> URL {
        #if canImport(Darwin)
        let folder = Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
        let folder = Bundle.main.bundleURL
        #endif
        let tool = folder.appendingPathComponent("pushcrypt").path
        try #require(FileManager.default.isExecutableFile(atPath: tool), "no pushcrypt beside the tests")
        return folder
    }

    private final class Marker {}

    /// Replaces ids, hashes and ciphertext, which differ from run to run. A new key id is the only word of a line or follows
    /// "added key".
    private struct StableLines {
        private var keyIDs: [(shown: String, printed: String)] = []

        mutating func learnKeyIDs(shown: String, printed: String) {
            for (shown, printed) in zip(shown.components(separatedBy: "\n"), printed.components(separatedBy: "\n")) {
                if let shown = Self.newKeyID(shown), let printed = Self.newKeyID(printed) {
                    keyIDs.append((shown, printed))
                }
            }
        }

        func shown(_ text: String) -> [String] { stable(text, keyIDs.map(\.shown)) }

        func printed(_ text: String) -> [String] { stable(text, keyIDs.map(\.printed)) }

        /// Removes the ciphertext, which the document shortens.
        private func stable(_ text: String, _ keyIDs: [String]) -> [String] {
            var text = text
            for (index, keyID) in keyIDs.enumerated() {
                text = text.replacingOccurrences(of: keyID, with: "kid \(index)")
            }
            return text.replacing(#/"sealed":"[A-Za-z0-9_-]+…?"/#, with: #""sealed":"…""#)
                .replacing(#/[A-Za-z0-9_-]{22,}/#) { [22: "id", 43: "hash"][$0.output.count] ?? String($0.output) }
                .components(separatedBy: "\n")
        }

        private static func newKeyID(_ line: String) -> String? {
            line.wholeMatch(of: #/(?:.*added key )?([A-Za-z0-9_-]{11})(?:[,:] .*)?/#).map { String($0.1) }
        }
    }
}
