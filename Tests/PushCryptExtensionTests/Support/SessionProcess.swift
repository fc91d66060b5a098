import Foundation
import PushCryptTestSupport

/// A process of the tests' extension that runs sessions, see `SessionCommand`.
final class SessionProcess {
    let name: String
    private let process: RunningProcess
    private let streams: TemporaryFolder
    private let input: Int32
    private let output: Int32
    private var buffer = LineBuffer()

    /// Starts it, and waits until it reads its input.
    ///
    /// - Parameter prefix: words before the command.
    init(_ name: String, folder: String, store: String, prefix: [String] = []) throws {
        self.name = name
        streams = try TemporaryFolder()
        (input, output) = (try Self.makePipe(streams, "stdin"), try Self.makePipe(streams, "stdout"))
        let command = try prefix + [ExtensionProcess.binary.get(), "sessions", folder, store, name]
        process = try ChildProcess(
            executable: command[0], arguments: Array(command.dropFirst()),
            environment: ["SWIFT_BACKTRACE": "enable=no"], folder: streams.path, stdin: streams.file("stdin").path,
            stdout: streams.file("stdout").path
        ).start()
        guard try line() == "ready" else { throw ChildProcess.Failure(call: "posix_spawn", number: 0) }
    }

    deinit {
        close(input)
        close(output)
    }

    /// Opens both ends, so that neither process waits for the other one to open its end.
    private static func makePipe(_ folder: TemporaryFolder, _ name: String) throws -> Int32 {
        let path = folder.file(name).path
        guard unsafe mkfifo(path, 0o600) == 0 else { throw ChildProcess.Failure(call: "mkfifo", number: errno) }
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw ChildProcess.Failure(call: "open", number: errno) }
        return descriptor
    }

    /// Continues the process with a batch of sessions.
    func begin(_ batch: String) throws {
        let bytes = Array("\(batch)\n".utf8)
        guard unsafe write(input, bytes, bytes.count) == bytes.count else {
            throw ChildProcess.Failure(call: "write", number: errno)
        }
        process.resume()
    }

    func stop() { process.stop() }
    func resume() { process.resume() }

    /// Waits until the process has stopped.
    ///
    /// - Returns: the lines that it has printed before; nil if it has ended.
    func linesAtStop() throws -> [String]? {
        guard try process.waitForStop() == nil else { return nil }
        while try readMore(timeout: 0) {}
        var lines: [String] = []
        while let line = buffer.takeLine() { lines.append(line) }
        return lines
    }

    /// Waits for its next line, at most two minutes.
    func line() throws -> String {
        for _ in 0..<600 {
            if let line = buffer.takeLine() { return line }
            // A process that the test stopped after it had printed its line, and before it stopped itself, still does so.
            if try !readMore(timeout: 200) { resume() }
        }
        throw ChildProcess.Failure(call: "poll", number: 0)
    }

    func kill() throws {
        process.kill()
        _ = try process.wait()
    }

    /// The locks of files that the process has, as Linux lists them; empty on other systems.
    func locks() throws -> [String] {
        guard let list = FileManager.default.contents(atPath: "/proc/locks") else { return [] }
        return String(decoding: list, as: UTF8.self).split(separator: "\n").map(String.init).filter { line in
            // 1: FLOCK ADVISORY WRITE 1234 00:1b:5678 0 EOF. A process that waits for a lock has "->" after the number.
            let words = line.split(separator: " ")
            return words.count > 4 && words[1] != "->" && words[4] == "\(process.child)"
        }
    }

    /// - Returns: false if there is nothing to read within the time, in milliseconds.
    private func readMore(timeout: Int32) throws -> Bool {
        var event = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&event, 1, timeout) == 1 else { return false }
        guard buffer.fill(from: output) else { throw ChildProcess.Failure(call: "read", number: errno) }
        return true
    }
}
