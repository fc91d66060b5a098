#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A running child process. It is killed when the object is freed before a wait, so that no test leaves one.
public final class RunningProcess {
    /// The system's number of the process.
    public let child: Int32
    private var hasEnded = false

    init(_ child: Int32) {
        self.child = child
    }

    deinit {
        guard !hasEnded else { return }
        kill()
        _ = try? wait()
    }

    /// Kills the process as `kill -9` does; nothing happens after its end.
    public func kill() {
        // The system doesn't reuse the number before a wait.
        guard !hasEnded else { return }
        _ = signal(child, SIGKILL)
    }

    /// Stops all threads of the process until ``resume()``; nothing happens after its end.
    public func stop() {
        guard !hasEnded else { return }
        _ = signal(child, SIGSTOP)
    }

    /// Continues a process that has stopped.
    public func resume() {
        guard !hasEnded else { return }
        _ = signal(child, SIGCONT)
    }

    /// Waits for its end.
    public func wait() throws -> ChildProcess.Ending {
        while true {
            if let ending = try wait(0) { return ending }
        }
    }

    /// Waits until all its threads have stopped, or for its end.
    ///
    /// - Returns: nil if it has stopped.
    public func waitForStop() throws -> ChildProcess.Ending? { try wait(WUNTRACED) }

    private func wait(_ options: Int32) throws -> ChildProcess.Ending? {
        var status: Int32 = 0
        while unsafe waitpid(child, &status, options) == -1 {
            guard errno == EINTR else { throw ChildProcess.Failure(call: "waitpid", number: errno) }
        }
        guard status & 0xff != 0x7f else { return nil }
        hasEnded = true
        let signal = status & 0x7f
        return signal == 0 ? .exit((status >> 8) & 0xff) : .signal(signal)
    }
}

/// kill(2), whose name the method hides.
private func signal(_ process: pid_t, _ number: Int32) -> Int32 {
    kill(process, number)
}
