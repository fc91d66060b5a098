#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A child process that was started. One that nobody waits for is killed with the object: no test leaves any behind.
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

    /// As by `kill -9`; nothing where it has ended by itself.
    public func kill() {
        // Until somebody waits for it, the number belongs to nobody else.
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

/// kill(2), which the method hides by its name.
private func signal(_ process: pid_t, _ number: Int32) -> Int32 {
    kill(process, number)
}
