import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A process that this one has started, and the only one that it ends, by its id.
final class ChildProcess: @unchecked Sendable {
    // Unchecked because Foundation doesn't declare Process as Sendable; only `run` and reading the id are used.
    private let process: Process
    private let ending: Task<Int32, Never>

    /// - Parameters:
    ///   - program: a path, or a name that is looked up in PATH.
    ///   - log: gets stdout and stderr.
    init(_ program: String, _ arguments: [String], log: FileHandle) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        let (ended, continuation) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            Self.running.withLock { _ = $0.remove(process.processIdentifier) }
            continuation.yield(process.terminationStatus)
            continuation.finish()
        }
        try process.run()
        Self.running.withLock { _ = $0.insert(process.processIdentifier) }
        self.process = process
        ending = Task {
            for await status in ended { return status }
            return -1
        }
    }

    private static let running = Mutex<Set<pid_t>>([])

    /// Ends the children that still run when this process is ended by a signal.
    static func endWithThisProcess() -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                for id in running.withLock({ $0 }) { kill(id, SIGKILL) }
                exit(128 + number)
            }
            source.activate()
            return source
        }
    }

    /// Whether it still runs.
    var isRunning: Bool { process.isRunning }

    /// Waits for the end, and returns the exit status, or the signal's number.
    var ended: Int32 { get async { await ending.value } }

    /// Sends a signal, and waits for the end.
    ///
    /// - Returns: the exit status, or the signal's number.
    @discardableResult
    func end(_ signal: Int32) async -> Int32 {
        if process.isRunning { kill(process.processIdentifier, signal) }
        return await ending.value
    }

    /// Runs a program to its end.
    ///
    /// - Parameter variables: are added to its environment.
    /// - Returns: its stdout.
    /// - Throws: `RehearsalError` if its status isn't 0.
    @discardableResult
    static func output(of path: String, _ arguments: [String], _ variables: [String: String]) throws -> Data {
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw RehearsalError("\(arguments.joined(separator: " ")): status \(process.terminationStatus)")
        }
        return data
    }
}
