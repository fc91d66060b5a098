import Foundation
import PushCryptTestSupport
import Testing

/// The result of a child process.
struct Output: CustomTestStringConvertible {
    let ending: ChildProcess.Ending
    let stdout: Data
    private let stderrData: Data

    init(_ ending: ChildProcess.Ending, stdout: Data, stderr: Data) {
        self.ending = ending
        self.stdout = stdout
        stderrData = stderr
    }

    /// What `open` prints of every failed decryption: it doesn't depend on the cause.
    static let undecryptable = ": `pushcrypt diagnose` looks for the cause"

    /// The exit status; nil after a signal.
    var exit: Int32? {
        if case .exit(let status) = ending { status } else { nil }
    }

    /// The signal that ended the process; nil if it exited.
    var signal: Int32? {
        if case .signal(let number) = ending { number } else { nil }
    }

    var stderr: String { String(decoding: stderrData, as: UTF8.self) }
    var text: String { String(decoding: stdout, as: UTF8.self) }

    /// stdout without its last newline.
    var payload: Data { stdout.last == UInt8(ascii: "\n") ? stdout.dropLast() : stdout }

    var line: String { String(decoding: payload, as: UTF8.self) }

    /// Exit status 0 and nothing on stderr.
    var isSuccess: Bool { exit == 0 && stderrData.isEmpty }

    /// Whether stderr is exactly one line of pushcrypt.
    var hasOneLineOnStderr: Bool {
        stderr.hasPrefix("pushcrypt: ") && stderr.hasSuffix("\n") && stderr.filter(\.isNewline).count == 1
    }

    func object() throws -> [String: Any] { try Payload.object(stdout) }

    /// The objects of JSON lines.
    func objects() throws -> [[String: Any]] {
        try stdout.split(separator: UInt8(ascii: "\n")).map { try Payload.object($0) }
    }

    var testDescription: String {
        "\(ending), stdout \(text.prefix(400)), stderr \(stderr.prefix(400))"
    }
}

/// Expects the exit status, one line on stderr and an empty stdout.
func expectRefusal(
    _ output: Output, _ status: Int32, saying text: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(output.exit == status, "\(output)", sourceLocation: sourceLocation)
    #expect(output.hasOneLineOnStderr, "\(output)", sourceLocation: sourceLocation)
    #expect(output.stdout.isEmpty, "\(output)", sourceLocation: sourceLocation)
    #expect(text.isEmpty || output.stderr.contains(text), "\(output)", sourceLocation: sourceLocation)
}

/// Expects exit status 64, a message on stderr and an empty stdout.
func expectUsageError(_ output: Output, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(output.exit == 64, "\(output)", sourceLocation: sourceLocation)
    #expect(!output.stderr.isEmpty, "\(output)", sourceLocation: sourceLocation)
    #expect(output.stdout.isEmpty, "\(output)", sourceLocation: sourceLocation)
}

/// Expects that `open` wrote a placeholder with the failure class.
///
/// - Parameter note: the text that follows the class on stderr; nil if any reason may follow it. Failures of decryption have
///   none unless one is expected.
func expectPlaceholder(
    _ output: Output, _ reason: String, title: String = "New message", note: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(output.exit == 65, "\(output)", sourceLocation: sourceLocation)
    let hint = reason == "undecryptable" ? Output.undecryptable : ""
    let expected = "pushcrypt: not opened: \(reason)" + (note ?? hint)
    if note == nil, reason != "undecryptable" {
        #expect(
            output.hasOneLineOnStderr && output.stderr.hasPrefix(expected), "\(output)", sourceLocation: sourceLocation)
    } else {
        #expect(output.stderr == expected + "\n", sourceLocation: sourceLocation)
    }
    #expect(output.stdout.last == UInt8(ascii: "\n"), "\(output)", sourceLocation: sourceLocation)
    // After failures that can pass, it also has the sealed message.
    let stamp = (try Payload.member("pushcrypt", of: output.payload) as? [String: Any]).map { members in
        members.filter { !["v", "kid", "sealed", "skid"].contains($0.key) }.compactMapValues { $0 as? String }
    }
    #expect(stamp == ["status": "failed", "reason": reason], "\(output)", sourceLocation: sourceLocation)
    #expect(
        try Payload.string("aps.alert.title", of: output.payload) == title, "\(output)",
        sourceLocation: sourceLocation)
}
