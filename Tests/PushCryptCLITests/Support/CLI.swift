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

    /// It lies beside the test bundle: the build folder is named by what runs the tests, by its arguments or by the
    /// bundles in it, according to the platform and the runner.
    static let binary = Result {
        let process = [Bundle.main.executableURL, Bundle.main.bundleURL].compactMap(\.self)
        let arguments = CommandLine.arguments.map { URL(fileURLWithPath: $0) }
        let bundles = Bundle.allBundles.map(\.bundleURL)
        for start in process + arguments + bundles {
            for folder in start.andFoldersAbove.prefix(5) {
                let candidate = folder.appendingPathComponent("pushcrypt", isDirectory: false)
                if candidate.isExecutableFile { return candidate }
            }
        }
        throw NotFound()
    }

    struct NotFound: Error, CustomStringConvertible {
        let description = "no pushcrypt binary beside the test bundle: build the product pushcrypt first"
    }

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

extension URL {
    fileprivate var andFoldersAbove: [URL] {
        var folders = [self]
        while let last = folders.last, last.path != "/", !last.path.isEmpty {
            folders.append(last.deletingLastPathComponent())
        }
        return folders
    }

    fileprivate var isExecutableFile: Bool {
        let isFile = (try? resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile ?? false
        return isFile && FileManager.default.isExecutableFile(atPath: path)
    }
}
