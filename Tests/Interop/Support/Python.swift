import Foundation
import PushCryptTestSupport
import Testing

/// The interpreter: `PUSHCRYPT_PYTHON`, or `python3` of the path.
enum Python {
    /// The reason of a skipped suite.
    static let missing: Comment =
        "no Python with the package pushcrypt: run pip install ./Senders/python, and set PUSHCRYPT_PYTHON"

    /// Whether the interpreter has the package of Senders/python.
    static let isAvailable = (try? process(["-c", "import pushcrypt"]).run()) == .exit(0)

    /// Writes no compiled files beside the scripts.
    ///
    /// - Parameters:
    ///   - stdin: the path of a file for the standard stream, as is the next one.
    static func process(
        _ arguments: [String], stdin: String = "/dev/null", stdout: String = "/dev/null", stderr: String = "/dev/null"
    ) -> ChildProcess {
        let interpreter = ProcessInfo.processInfo.environment["PUSHCRYPT_PYTHON"] ?? "python3"
        return ChildProcess(
            executable: "/usr/bin/env", arguments: [interpreter, "-B"] + arguments, stdin: stdin, stdout: stdout,
            stderr: stderr)
    }
}
