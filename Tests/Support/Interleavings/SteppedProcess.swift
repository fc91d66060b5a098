import Foundation

/// A process of the test program whose system calls are steps.
public final class SteppedProcess {
    enum Report: Equatable {
        /// The next step; the process waits until it may take it.
        case step(kind: Character, label: String, resource: String)
        /// The last step had no effect, because another process has the lock.
        case waits
        case done(String)
    }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private let process: RunningProcess
    private let streams: TemporaryFolder
    private let input: Int32
    private let output: Int32
    private var received: [UInt8] = []

    public init() throws {
        streams = try TemporaryFolder()
        (input, output) = (try Self.makePipe(streams, "stdin"), try Self.makePipe(streams, "stdout"))
        let child = ChildProcess(
            executable: try Self.binary.get().path, arguments: [], environment: ["SWIFT_BACKTRACE": "enable=no"],
            folder: streams.path, stdin: streams.file("stdin").path, stdout: streams.file("stdout").path,
            stderr: "/dev/null")
        process = try child.start()
    }

    deinit {
        close(input)
        close(output)
    }

    private static let binary = Result { try BuiltProduct.url("PushCryptSteppedProcess") }

    /// Opens both ends, so that neither process waits for the other one to open its end.
    private static func makePipe(_ folder: TemporaryFolder, _ name: String) throws -> Int32 {
        let path = folder.file(name).path
        guard unsafe mkfifo(path, 0o600) == 0 else { throw Failure(description: "no pipe: error \(errno)") }
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(description: "can't open the pipe: error \(errno)") }
        return descriptor
    }

    func begin(_ job: String) throws { try send(Array("\(job)\n".utf8)) }
    func takeStep() throws { try send([UInt8(ascii: "g")]) }

    func kill() throws {
        process.kill()
        _ = try process.wait()
    }

    /// Waits for the process's next line, at most two minutes.
    func report() throws -> Report {
        let line = try line()
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        switch words.first {
        case "waits": return .waits
        case "done": return .done(String(line.dropFirst(5)))
        case "at" where words.count == 4 && words[1].count == 1:
            return .step(kind: words[1].first!, label: "\(words[2]) \(words[3])", resource: String(words[3]))
        default: throw Failure(description: "an unknown report: \(line)")
        }
    }

    private func send(_ bytes: [UInt8]) throws {
        let count = unsafe bytes.withUnsafeBytes { unsafe write(input, $0.baseAddress!, $0.count) }
        guard count == bytes.count else { throw Failure(description: "can't write to the process: error \(errno)") }
    }

    private func line() throws -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            var event = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&event, 1, 120_000) == 1 else {
                throw Failure(description: "the process reports no further step")
            }
            var chunk = [UInt8](repeating: 0, count: 4_096)
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress!, $0.count) }
            guard count > 0 else { throw Failure(description: "can't read from the process: error \(errno)") }
            received += chunk[..<count]
        }
    }
}
