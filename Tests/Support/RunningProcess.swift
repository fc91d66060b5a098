#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A running child process. It is killed when the object is freed before a wait, so that no test leaves one.
public final class RunningProcess {
    private let child: pid_t
    private var hasEnded = false

    init(_ child: pid_t) {
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

    /// Waits for its end.
    public func wait() throws -> ChildProcess.Ending {
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) == -1 {
            guard errno == EINTR else { throw ChildProcess.Failure(call: "waitpid", number: errno) }
        }
        hasEnded = true
        let signal = status & 0x7f
        return signal == 0 ? .exit((status >> 8) & 0xff) : .signal(signal)
    }
}

/// kill(2), whose name the method hides.
private func signal(_ process: pid_t, _ number: Int32) -> Int32 {
    kill(process, number)
}
