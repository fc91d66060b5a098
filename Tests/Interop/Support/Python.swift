import Foundation
import Testing

/// The interpreter: `PUSHCRYPT_PYTHON`, or `python3` of the path.
enum Python {
    /// The reason of a skipped suite.
    static let missing: Comment = "python with cryptography and pyhpke not found: set PUSHCRYPT_PYTHON"

    /// Whether the interpreter has the libraries of requirements.txt.
    static let isAvailable: Bool = {
        let process = Self.process(["-c", "import cryptography, pyhpke"])
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Writes no compiled files beside the scripts.
    static func process(_ arguments: [String]) -> Process {
        let interpreter = ProcessInfo.processInfo.environment["PUSHCRYPT_PYTHON"] ?? "python3"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [interpreter, "-B"] + arguments
        return process
    }
}
