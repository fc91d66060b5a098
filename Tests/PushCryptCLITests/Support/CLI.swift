import Foundation
import PushCryptTestSupport

/// The real binary as a child process.
///
/// The three standard streams are files: nothing fills up, whatever the child does or doesn't read.
enum CLI {
    /// Runs `pushcrypt` with the arguments.
    static func run(_ arguments: [String], stdin: Data = Data(), in folder: URL? = nil) throws -> Output {
        try launch(binary.get(), arguments, stdin: stdin, in: folder)
    }

    /// Runs a script of /bin/sh, which finds the binary in `$PUSHCRYPT`.
    static func shell(_ script: String, stdin: Data = Data(), in folder: URL? = nil) throws -> Output {
        let shell = URL(fileURLWithPath: "/bin/sh")
        return try launch(shell, ["-c", script], stdin: stdin, in: folder)
    }

    static let binary = Result { try BuiltProduct.url("pushcrypt") }

    private static func launch(
        _ executable: URL, _ arguments: [String], stdin: Data, in folder: URL?
    ) throws -> Output {
        try start(executable, arguments, stdin: stdin, in: folder, environment: [:]).wait()
    }

    /// Starts `pushcrypt` and doesn't wait for it.
    static func start(
        _ arguments: [String], stdin: Data = Data(), in folder: URL?, environment: [String: String] = [:]
    ) throws -> RunningCommand {
        try start(binary.get(), arguments, stdin: stdin, in: folder, environment: environment)
    }

    private static func start(
        _ executable: URL, _ arguments: [String], stdin: Data, in folder: URL?, environment: [String: String]
    ) throws -> RunningCommand {
        let streams = try TemporaryFolder()
        let names = ["stdin": stdin, "stdout": Data(), "stderr": Data()]
        for (name, data) in names { try data.write(to: streams.file(name)) }
        let usual = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "PUSHCRYPT": try binary.get().path]
        let child = ChildProcess(
            executable: executable.path, arguments: arguments,
            environment: usual.merging(environment) { $1 },
            folder: (folder ?? streams.url).path, stdin: streams.file("stdin").path,
            stdout: streams.file("stdout").path, stderr: streams.file("stderr").path)
        return RunningCommand(process: try child.start(), streams: streams)
    }
}

/// A command that was started, with the files for what it says.
struct RunningCommand {
    let process: RunningProcess
    fileprivate let streams: TemporaryFolder

    func wait() throws -> Output {
        let ending = try process.wait()
        return Output(
            ending, stdout: try Data(contentsOf: streams.file("stdout")),
            stderr: try Data(contentsOf: streams.file("stderr")))
    }
}
