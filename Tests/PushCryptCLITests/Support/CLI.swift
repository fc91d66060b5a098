import Foundation
import PushCryptTestSupport

/// Runs the built tool as a child process, without a shell.
///
/// The three standard streams are files, so that no pipe can fill up and block either side.
///
/// `PUSHCRYPT_TEST_TOOL` names a release build, which starts faster. A command with a fault point runs the debug build, because
/// only that has fault points.
enum CLI {
    /// Runs `pushcrypt` with the arguments.
    static func run(_ arguments: [String], stdin: Data = Data(), in folder: URL? = nil) throws -> Output {
        try start(arguments, stdin: stdin, in: folder).wait()
    }

    /// Runs a script of /bin/sh, which finds the binary in `$PUSHCRYPT`.
    static func shell(_ script: String, stdin: Data = Data(), in folder: URL? = nil) throws -> Output {
        let environment = ["PUSHCRYPT": try binary(isFaulty: script.contains(faultPoint)).path]
        return try start(
            URL(fileURLWithPath: "/bin/sh"), ["-c", script], stdin: stdin, in: folder, environment: environment
        ).wait()
    }

    /// The host of all commands, so that the tests don't depend on the machine's id.
    static let writer = "tests"

    private static let faultPoint = "PUSHCRYPT_FAULT_POINT"
    private static let debugBuild = Result { try BuiltProduct.url("pushcrypt") }
    private static let releaseBuild = ProcessInfo.processInfo.environment["PUSHCRYPT_TEST_TOOL"].map {
        URL(fileURLWithPath: $0)
    }

    static func binary(isFaulty: Bool = false) throws -> URL {
        if let releaseBuild, !isFaulty { return releaseBuild }
        return try debugBuild.get()
    }

    /// Starts `pushcrypt` without waiting for it.
    static func start(
        _ arguments: [String], stdin: Data = Data(), in folder: URL?, environment: [String: String] = [:]
    ) throws -> RunningCommand {
        let tool = try binary(isFaulty: environment[faultPoint] != nil)
        return try start(tool, arguments, stdin: stdin, in: folder, environment: environment)
    }

    private static func start(
        _ executable: URL, _ arguments: [String], stdin: Data, in folder: URL?, environment: [String: String]
    ) throws -> RunningCommand {
        let streams = try TemporaryFolder()
        for name in ["stdout", "stderr"] { try Data().write(to: streams.file(name)) }
        if !stdin.isEmpty { try stdin.write(to: streams.file("stdin")) }
        let usual = [
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "PUSHCRYPT": try binary().path, "PUSHCRYPT_WRITER": writer,
        ]
        let child = ChildProcess(
            executable: executable.path, arguments: arguments,
            environment: usual.merging(environment) { $1 },
            folder: (folder ?? streams.url).path, stdin: stdin.isEmpty ? "/dev/null" : streams.file("stdin").path,
            stdout: streams.file("stdout").path, stderr: streams.file("stderr").path)
        return RunningCommand(process: try child.start(), streams: streams)
    }
}

/// A command that was started, with the files of its standard streams.
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
