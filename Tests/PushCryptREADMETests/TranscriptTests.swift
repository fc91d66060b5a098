import Foundation
import Testing

/// The transcripts of README.md: their commands are pasted into one shell, and their output is what they print.
@Suite struct TranscriptTests {
    @Test(arguments: ["Transcript", "Rotate a key", "Attach a file", "Seal a campaign"])
    func commandsPrintWhatTheReadmeShows(_ heading: String) throws {
        let steps = try Self.steps(below: heading)
        #expect(steps.count >= 5)
        let outputs = try Self.run(steps.map(\.commands))
        try #require(outputs.count == steps.count)
        var stable = Self.StableLines()
        for (step, output) in zip(steps, outputs) {
            stable.learnKeyIDs(shown: step.output, printed: output)
            #expect(stable.shown(step.output) == stable.printed(output), "after \(step.commands)")
        }
    }

    /// Commands and, right below them, what they print.
    private struct Step {
        let commands: String
        let output: String
    }

    private static func steps(below heading: String) throws -> [Step] {
        let blocks = try README.blocks(of: "sh", "text", below: heading)
        var steps: [Step] = []
        for (index, block) in blocks.enumerated() where block.language == "sh" {
            let next = blocks.dropFirst(index + 1).first
            steps.append(Step(commands: block.text, output: next?.language == "text" ? next?.text ?? "" : ""))
        }
        return steps
    }

    /// Runs all commands in one shell in a new folder, with the built `pushcrypt` in its path.
    ///
    /// - Parameter tools: what stands in for tools that aren't there, in the shell's language.
    /// - Returns: what each step printed on either stream.
    static func run(_ commands: [String], replacing tools: String = "") throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let separator = "== next step =="
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The transcript builds first; here that is done. A file takes the output: other tests' processes could inherit
        // a pipe and keep it open.
        let preparation = "exec >output 2>&1; swift() { :; }; \(tools)\n"
        shell.arguments = ["-c", preparation + commands.joined(separator: "\necho '\(separator)'\n")]
        shell.currentDirectoryURL = folder
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = "\(try buildFolder().path):\(environment["PATH"] ?? "/usr/bin:/bin")"
        shell.environment = environment
        shell.standardInput = FileHandle.nullDevice
        try shell.run()
        shell.waitUntilExit()
        let text = try String(contentsOf: folder.appendingPathComponent("output"), encoding: .utf8)
        return text.components(separatedBy: separator + "\n").map { $0.hasSuffix("\n") ? String($0.dropLast()) : $0 }
    }

    /// Where `pushcrypt` and the tests were built.
    private static func buildFolder() throws -> URL {
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

    /// Key ids and ciphertext differ from run to run; a key id that is new has a line of its own, or is added.
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

        /// The README cuts the ciphertext short.
        private func stable(_ text: String, _ keyIDs: [String]) -> [String] {
            var text = text
            for (index, keyID) in keyIDs.enumerated() {
                text = text.replacingOccurrences(of: keyID, with: "kid \(index)")
            }
            return text.replacing(#/"sealed":"[A-Za-z0-9_-]+…?"/#, with: #""sealed":"…""#).components(separatedBy: "\n")
        }

        private static func newKeyID(_ line: String) -> String? {
            line.wholeMatch(of: #/(?: *done +add key )?([A-Za-z0-9_-]{11})(?:, .*)?/#).map { String($0.1) }
        }
    }
}
