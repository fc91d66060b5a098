import Foundation
import PushCryptTestSupport
import Testing

/// The tool with a connected Unix socket as stdin and stdout, as systemd starts it for `Accept=yes`.
@Suite("seal --stream on a socket", .ownThreads)
struct StreamSocketTests {
    @Test("a client that closes its sending half gets the answers to all lines, and then the end")
    func halfClosed() throws {
        let client = try StreamClient(BatchPlace())
        for number in 0..<50 { try client.send(BatchPlace.line(number)) }
        try client.send("{", newline: "")
        client.finishSending()
        let answers = client.rest()
        #expect(BatchPlace.numbers(answers) == Array(0..<50))
        #expect(String(decoding: answers, as: UTF8.self).hasSuffix(#""pushcrypt":{"line":51}}"# + "\n"))
        #expect(try client.process.wait() == .exit(0))
    }

    /// The socket's buffers fill up in both directions. A nonblocking socket is what an event loop passes on.
    @Test("a client that reads only after it has sent everything gets every answer", arguments: [false, true])
    func slowReader(_ isNonblocking: Bool) throws {
        let batch = try BatchPlace()
        try batch.place.write(Data(), to: "stderr")
        let client = try StreamClient(
            batch, isNonblocking: isNonblocking, stderr: batch.place.folder.path + "/stderr")
        let filling = String(repeating: "x", count: 1_000)
        let count = 600
        let sender = Thread { [client] in
            // If the tool has ended, nothing more is sent, and the missing answers show it.
            for number in 0..<count where (try? client.send(BatchPlace.line(number, filling: filling))) == nil { break }
            client.finishSending()
        }
        sender.start()
        var answers = Data((try client.answer() + "\n").utf8)
        answers += client.rest()
        #expect(BatchPlace.numbers(answers) == Array(0..<count))
        let ending = try client.process.wait()
        let words = try String(decoding: batch.place.read("stderr"), as: UTF8.self)
        #expect(ending == .exit(0), "\(words)")
    }

    @Test("kill -9 of the tool ends the connection, and the answers before it are whole lines")
    func killed() throws {
        let batch = try BatchPlace()
        let client = try StreamClient(batch)
        for number in 0..<5 {
            try client.send(BatchPlace.line(number))
            #expect(try client.answer().hasPrefix(#"{"n":\#(number),"#))
        }
        client.process.kill()
        #expect(try client.process.wait() == .signal(SIGKILL))
        #expect(client.rest().isEmpty)
        let other = try StreamClient(batch)
        try other.send(BatchPlace.line(5))
        #expect(try other.answer().hasPrefix(#"{"n":5,"#))
        other.finishSending()
        #expect(try other.process.wait() == .exit(0))
    }

    @Test("a client that closes the connection ends the tool")
    func closed() throws {
        let client = try StreamClient(BatchPlace())
        try client.send(BatchPlace.line(0))
        _ = try client.answer()
        client.close()
        #expect(try client.process.wait() == .exit(0))
    }
}

/// A process `seal --stream` with one end of a socket pair as stdin and stdout, and the other end.
final class StreamClient: @unchecked Sendable {
    // Unchecked because one thread sends while another one reads; neither touches the state of the other.
    let process: RunningProcess
    /// Its folder exists as long as the client.
    private let batch: BatchPlace
    private let descriptor: Int32
    private var isClosed = false
    private var unread = Data()

    /// - Parameter stderr: a file.
    init(
        _ batch: BatchPlace, _ arguments: [String] = StreamTests.seal, isNonblocking: Bool = false,
        stderr: String = "/dev/null"
    ) throws {
        self.batch = batch
        let (own, child) = try ChildProcess.socketPair()
        descriptor = own
        defer { Foundation.close(child) }
        if isNonblocking { try #require(fcntl(child, F_SETFL, fcntl(child, F_GETFL) | O_NONBLOCK) == 0) }
        process = try ChildProcess(
            executable: CLI.binary().path, arguments: arguments, folder: batch.place.folder.path,
            stderr: stderr, stdinAndStdout: child
        ).start()
    }

    deinit { close() }

    func send(_ line: String, newline: String = "\n") throws {
        var bytes = Array((line + newline).utf8)[...]
        while !bytes.isEmpty {
            // Without a signal if the tool has ended.
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Foundation.send(descriptor, bytes.baseAddress!, bytes.count, Int32(MSG_NOSIGNAL))
            }
            try #require(count > 0)
            bytes = bytes.dropFirst(count)
        }
    }

    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    func close() {
        if !isClosed { _ = Foundation.close(descriptor) }
        isClosed = true
    }

    /// The next line without its newline.
    func answer() throws -> String {
        while !unread.contains(UInt8(ascii: "\n")) { try #require(readSome(), "the connection ended") }
        let end = try #require(unread.firstIndex(of: UInt8(ascii: "\n")))
        defer { unread = Data(unread[(end + 1)...]) }
        return String(decoding: unread[..<end], as: UTF8.self)
    }

    /// Everything up to the end of the connection.
    func rest() -> Data {
        while readSome() {}
        return unread
    }

    private func readSome() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return false }
        unread += buffer[..<count]
        return true
    }
}
