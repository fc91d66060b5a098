import PushCryptPrimitives

/// A helper program that reads a little, writes a little and ends: watched, killed where it doesn't, and always waited
/// for.
struct HelperProcess {
    private let process: pid_t
    private let leadsGroup: Bool
    private let stdout: HelperPipe
    private let deadline: ContinuousClock.Instant
    private let now: () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - script: of /bin/sh.
    ///   - stdin: at most 4,096 bytes. It need not read them.
    ///   - limit: the most bytes that it may print.
    ///   - seconds: after so long it is killed.
    ///   - mayAsk: whether it stays in the foreground of the terminal. Only otherwise can what it started be killed too.
    /// - Returns: what it printed. The caller wipes it.
    static func run(
        _ script: String, stdin: [UInt8], limit: Int, seconds: Int, mayAsk: Bool,
        now: @escaping () -> ContinuousClock.Instant
    ) throws(HelperFailure) -> [UInt8] {
        let (input, output) = (try HelperPipe(), try HelperPipe())
        try input.fill(stdin)
        let deadline = now() + .seconds(seconds)
        let process = try spawn(script, stdin: input.readEnd, stdout: output.writeEnd, leadsGroup: !mayAsk)
        input.closeReadEnd()
        output.closeWriteEnd()
        return try HelperProcess(
            process: process, leadsGroup: !mayAsk, stdout: output, deadline: deadline, now: now
        ).finish(limit)
    }

    private func end() {
        kill(leadsGroup ? -process : process, SIGKILL)
    }

    private func finish(_ limit: Int) throws(HelperFailure) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: limit + 1)
        defer { wipe(&output) }
        let count: Int
        do throws(HelperFailure) {
            count = try read(into: &output)
        } catch {
            end()
            _ = try? exitStatus()
            throw error
        }
        // A child that is still printing would otherwise wait for room, and this process for the child.
        stdout.closeReadEnd()
        if count > limit { end() }
        let status = try exitStatus()
        guard count <= limit else { throw HelperFailure("it printed more than \(limit) bytes") }
        guard status == 0 else { throw HelperFailure("exit status \(status)") }
        return Array(output[..<count])
    }

    /// - Returns: the number of bytes; the size of the buffer where there are more.
    private func read(into output: inout [UInt8]) throws(HelperFailure) -> Int {
        var count = 0
        while count < output.count {
            try waitForOutput()
            let more = unsafe output.withUnsafeMutableBytes { buffer in
                unsafe readBytes(stdout.readEnd, buffer.baseAddress! + count, buffer.count - count)
            }
            if more < 0, errno == EINTR || errno == EAGAIN { continue }
            guard more >= 0 else { throw HelperFailure(system: "reading from it") }
            guard more > 0 else { return count }
            count += more
        }
        return count
    }

    private func waitForOutput() throws(HelperFailure) {
        while true {
            guard now() < deadline else { throw Self.late }
            var item = pollfd(fd: stdout.readEnd, events: Int16(POLLIN), revents: 0)
            let result = unsafe poll(&item, 1, Self.longestWaitInMilliseconds)
            if result > 0 { return }
            guard result == 0 || errno == EINTR else { throw HelperFailure(system: "reading from it") }
        }
    }

    /// Waits for the end of the child, which may live on behind a closed stdout.
    private func exitStatus() throws(HelperFailure) -> Int32 {
        var (status, wait) = (Int32(0), Int32(1))
        var isLate = false
        while true {
            let result = unsafe waitpid(process, &status, isLate ? 0 : WNOHANG)
            if result == process { break }
            guard result == 0 || errno == EINTR else { throw HelperFailure(system: "waiting for it") }
            if now() >= deadline {
                isLate = true
                end()
            } else {
                poll(nil, 0, wait)
                wait = min(wait * 2, Self.longestWaitInMilliseconds)
            }
        }
        guard !isLate else { throw Self.late }
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
    }

    private static let late = HelperFailure("it didn't end in time and was killed")
    /// The clock is looked at this often.
    private static let longestWaitInMilliseconds: Int32 = 50
}

/// read(2), which the functions above hide by their name.
private func readBytes(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
    unsafe read(descriptor, start, count)
}

/// What went wrong with a helper program.
struct HelperFailure: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    /// What errno says.
    init(system call: String, _ number: Int32 = errno) {
        reason = "\(call): \(unsafe String(cString: strerror(number)))"
    }
}

/// A pipe to or from a helper. Unlike a socket, it can be opened again as /dev/stdin, as many clients do.
final class HelperPipe {
    private(set) var readEnd: Int32 = -1
    private(set) var writeEnd: Int32 = -1

    init() throws(HelperFailure) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw HelperFailure(system: "pipe") }
        // Two steps, because the system's module lacks pipe2. What another thread starts in between keeps the pipe open;
        // at worst the helper then waits for the end of its input until it is late.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        readEnd = Self.aboveStandardStreams(ends[0])
        writeEnd = Self.aboveStandardStreams(ends[1])
        guard readEnd > 2, writeEnd > 2 else { throw HelperFailure(system: "pipe") }
    }

    deinit {
        closeReadEnd()
        closeWriteEnd()
    }

    /// In a process without standard streams a pipe gets their numbers, which the child needs for the other pipe.
    private static func aboveStandardStreams(_ descriptor: Int32) -> Int32 {
        guard (0...2).contains(descriptor) else { return descriptor }
        defer { close(descriptor) }
        return fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    }

    /// Puts all of it into the pipe and closes the end, while nobody reads yet.
    ///
    /// Up to 4,096 bytes there is room for in any pipe. The read end is open here, so that no child that goes without
    /// reading turns the write into a SIGPIPE.
    func fill(_ bytes: [UInt8]) throws(HelperFailure) {
        defer { closeWriteEnd() }
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
        var count: Int
        repeat {
            count = unsafe bytes.withUnsafeBytes { unsafe write(writeEnd, $0.baseAddress, $0.count) }
        } while count < 0 && errno == EINTR
        guard count == bytes.count else { throw HelperFailure(system: "writing to it") }
    }

    func closeReadEnd() {
        if readEnd >= 0 { close(readEnd) }
        readEnd = -1
    }

    func closeWriteEnd() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }
}
