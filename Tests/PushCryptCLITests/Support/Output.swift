import Foundation
import PushCryptTestSupport
import Testing

/// What a child process left behind.
struct Output: CustomTestStringConvertible {
    let ending: ChildProcess.Ending
    let stdout: Data
    private let stderrData: Data

    init(_ ending: ChildProcess.Ending, stdout: Data, stderr: Data) {
        self.ending = ending
        self.stdout = stdout
        stderrData = stderr
    }

    /// The exit status of a program that ended by itself; nil after a signal.
    var exit: Int32? {
        if case .exit(let status) = ending { status } else { nil }
    }

    /// The signal that ended it; nil for a program that ended by itself.
    var signal: Int32? {
        if case .signal(let number) = ending { number } else { nil }
    }

    var stderr: String { String(decoding: stderrData, as: UTF8.self) }
    var text: String { String(decoding: stdout, as: UTF8.self) }

    /// Without the one newline that doesn't count.
    var payload: Data { stdout.last == UInt8(ascii: "\n") ? stdout.dropLast() : stdout }

    var line: String { String(decoding: payload, as: UTF8.self) }

    /// Exit status 0 and nothing on stderr.
    var isSuccess: Bool { exit == 0 && stderrData.isEmpty }

    /// Whether stderr is one line of pushcrypt and not more.
    var hasOneLineOnStderr: Bool {
        stderr.hasPrefix("pushcrypt: ") && stderr.hasSuffix("\n") && stderr.filter(\.isNewline).count == 1
    }

    func object() throws -> [String: Any] {
        guard let object = try JSONSerialization.jsonObject(with: stdout) as? [String: Any] else {
            throw CocoaError(.coderReadCorrupt)
        }
        return object
    }

    var testDescription: String {
        "\(ending), stdout \(text.prefix(400)), stderr \(stderr.prefix(400))"
    }
}
