import Foundation

/// The test program that acts as an app or its extension, in a child process.
public struct ExtensionCommand {
    public let process: RunningProcess
    private let streams: TemporaryFolder

    /// Starts it and doesn't wait.
    ///
    /// - Parameter prefix: the beginning of the shell's command line.
    public init(_ arguments: [String], prefix: String = "") throws {
        streams = try TemporaryFolder()
        for name in ["stdin", "stdout", "stderr"] { try Data().write(to: streams.file(name)) }
        let child = ChildProcess(
            executable: "/bin/sh",
            arguments: ["-c", #"exec \#(prefix) "$0" "$@""#, try Self.binary.get().path] + arguments,
            environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "SWIFT_BACKTRACE": "enable=no"],
            folder: streams.path, stdin: streams.file("stdin").path, stdout: streams.file("stdout").path,
            stderr: streams.file("stderr").path)
        process = try child.start()
    }

    /// What it has printed so far, whole lines only.
    public func lines() throws -> [String] {
        let text = String(decoding: try Data(contentsOf: streams.file("stdout")), as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// Whether it has printed an error, so that a wait for lines must end.
    public func hasComplained() throws -> Bool { try !complaint().isEmpty }

    /// What it has printed to standard error so far.
    public func complaint() throws -> String {
        String(decoding: try Data(contentsOf: streams.file("stderr")), as: UTF8.self)
    }

    /// Waits for its end.
    ///
    /// - Returns: what it printed; nil if it failed.
    public static func output(_ arguments: [String], prefix: String = "") throws -> [String]? {
        let command = try ExtensionCommand(arguments, prefix: prefix)
        return try command.process.wait() == .exit(0) ? command.lines() : nil
    }

    private static let binary = Result { try BuiltProduct.url("PushCryptTestExtension") }
}
