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
    /// - Returns: what it printed. Whoever holds it wipes it.
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
