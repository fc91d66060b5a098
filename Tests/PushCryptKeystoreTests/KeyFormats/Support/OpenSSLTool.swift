import Foundation
import PushCryptTestSupport
import Testing

/// Runs the `openssl` tool in a temporary folder.
///
/// The packages that the README installs don't contain the tool, so suites that need it are skipped if it is missing.
/// LibreSSL's tool, on Apple's systems, has other options and keys.
struct OpenSSLTool {
    static let missing: Comment = "the openssl tool of OpenSSL 3 or later not found on the path"
    static let isAvailable = executable != nil

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }
    func write(_ bytes: [UInt8], to name: String) throws { try Data(bytes).write(to: folder.file(name)) }
    func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.file(name))) }

    /// Runs a command, whose arguments are split at spaces, and returns its output.
    @discardableResult
    func run(_ arguments: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
        let ending = try Self.ending(of: arguments.split(separator: " ").map(String.init), in: folder)
        let messages = String(decoding: try read("stderr"), as: UTF8.self)
        try #require(ending == .exit(0), "openssl \(arguments): \(messages)", sourceLocation: sourceLocation)
        return try read("stdout")
    }

    /// The numbers that `openssl pkey -text` prints of a key.
    func numbers(_ arguments: String) throws -> (privateKey: [UInt8]?, publicKey: [UInt8]?) {
        let text = String(decoding: try run("pkey -text -noout \(arguments)"), as: UTF8.self)
        func number(_ name: String) -> [UInt8]? {
            guard let start = text.range(of: "\(name):\n")?.upperBound else { return nil }
            let lines = text[start...].split(separator: "\n").prefix { $0.hasPrefix("    ") }
            return [UInt8](hex: lines.joined().filter { $0 != ":" })
        }
        return (number("priv"), number("pub"))
    }

    private static let executable: String? = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/openssl" }.first { isOpenSSL($0) }
    }()

    private static func isOpenSSL(_ candidate: String) -> Bool {
        guard FileManager.default.isExecutableFile(atPath: candidate), let folder = try? TemporaryFolder() else {
            return false
        }
        let ending = try? ending(of: ["version"], in: folder, executable: candidate)
        guard ending == .exit(0), let version = try? Data(contentsOf: folder.file("stdout")) else { return false }
        let words = String(decoding: version, as: UTF8.self).split(separator: " ")
        guard words.count > 1, words[0] == "OpenSSL", let major = words[1].split(separator: ".").first else {
            return false
        }
        return (Int(major) ?? 0) >= 3
    }

    private static func ending(
        of arguments: [String], in folder: TemporaryFolder, executable: String? = executable
    ) throws -> ChildProcess.Ending {
        for name in ["stdin", "stdout", "stderr"] { try Data().write(to: folder.file(name)) }
        return try ChildProcess(
            executable: try #require(executable), arguments: arguments, environment: [:], folder: folder.url.path,
            stdin: folder.file("stdin").path, stdout: folder.file("stdout").path, stderr: folder.file("stderr").path
        ).run()
    }
}
