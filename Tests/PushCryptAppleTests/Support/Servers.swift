import FlyingFox
import FlyingSocks
import Foundation
import PushCryptPrimitives
import PushCryptTestSupport

#if os(Linux)
import Glibc
#endif

/// A server on loopback that runs one script for each connection, including scripts that violate HTTP.
struct RawServer: Sendable {
    enum Step: Sendable {
        case send([UInt8])
        /// Waits until the test gives the signal.
        case wait(Signal)
        /// Gives a signal to the test.
        case give(Signal)
        /// An endless response: sends the bytes repeatedly until the client has closed the connection. In the short form the
        /// server pauses after `limit` bytes, because a client that is slow to close it keeps both sides busy.
        case flood([UInt8], limit: Int = 2_000_000)
        /// Keeps the connection open until the client has closed it, and then gives the signal.
        case hold(Signal = Signal())
    }

    let port: UInt16
    private let heads = Locked<[String]>([])
    private let openConnections = Locked(0)

    var address: String { address("x") }
    func address(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// The request heads so far, one for each connection.
    var requests: [String] { heads.withLock { $0 } }

    /// Serves while `body` runs. Each connection uses the next script; further connections are closed at once.
    static func serving<Value: Sendable>(
        _ scripts: [[Step]], _ body: @Sendable (RawServer) async throws -> Value
    ) async throws -> Value {
        let pool: some AsyncSocketPool = .make()
        try await pool.prepare()
        let socket = try Socket(domain: AF_INET, type: .stream)
        try socket.bind(to: .inet(ip4: "127.0.0.1", port: 0))
        try socket.listen()
        guard case .ip4(_, let port) = try socket.sockname() else { throw CocoaError(.featureUnsupported) }
        let listener = try AsyncSocket(socket: socket, pool: pool)
        let server = RawServer(port: port)
        // The socket is closed after the end of all tasks. A task that still waits for the descriptor would otherwise use that
        // of the next server.
        defer { try? listener.close() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await pool.run() }
            group.addTask { try? await server.accept(listener, scripts) }
            defer { group.cancelAll() }
            return try await body(server)
        }
    }

    private func accept(_ listener: AsyncSocket, _ scripts: [[Step]]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var scripts = scripts[...]
            while true {
                let connection = try await listener.accept()
                let script = scripts.popFirst() ?? []
                group.addTask {
                    defer { try? connection.close() }
                    try? await serve(connection, script)
                }
            }
        }
    }

    private func serve(_ connection: AsyncSocket, _ script: [Step]) async throws {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head.append(try await connection.read()) }
        let text = String(decoding: head, as: UTF8.self)
        heads.withLock { $0.append(text) }
        for step in script {
            switch step {
            case .send(let bytes): try await connection.write(Data(bytes))
            case .wait(let signal): await signal.wait()
            case .give(let signal): signal.give()
            case .flood(let bytes, let limit):
                for _ in 0..<LongTests.value(.max, short: limit / bytes.count) {
                    try await connection.write(Data(bytes))
                }
                while let rest = try? await connection.read(atMost: 4096), !rest.isEmpty {}
            case .hold(let signal):
                while let rest = try? await connection.read(atMost: 4096), !rest.isEmpty {}
                signal.give()
            }
        }
    }
}

extension RawServer.Step {
    /// A response head: the status line and header lines, each followed by a line break.
    static func head(_ status: String = "200 OK", _ lines: String...) -> Self {
        send(Array((["HTTP/1.1 \(status)"] + lines).map { $0 + "\r\n" }.joined().utf8) + Array("\r\n".utf8))
    }

    static func text(_ text: String) -> Self { send(Array(text.utf8)) }

    /// A redirect that closes its connection.
    static func redirect(to location: String, _ status: String = "302 Found") -> Self {
        head(status, "Location: \(location)", "Content-Length: 0", "Connection: close")
    }
}

extension [RawServer.Step] {
    /// A complete response that closes its connection.
    static func body(_ bytes: [UInt8]) -> Self {
        [.head("200 OK", "Content-Length: \(bytes.count)", "Connection: close"), .send(bytes)]
    }

    static var notFound: Self { [.head("404 X", "Content-Length: 0", "Connection: close")] }
}

/// A well-behaved HTTP server on loopback.
struct WebServer: Sendable {
    let port: UInt16

    /// In seconds. Other tests may keep the threads busy for a long time.
    private static let longerThanAnyTest: TimeInterval = 86_400

    func address(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// Serves while `body` runs.
    static func serving<Value: Sendable>(
        _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse,
        _ body: @Sendable (WebServer) async throws -> Value
    ) async throws -> Value {
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: 0), timeout: longerThanAnyTest, logger: .disabled,
            handler: ClosureHTTPHandler(answer))
        let task = Task { try await server.run() }
        defer { task.cancel() }
        try await server.waitUntilListening(timeout: longerThanAnyTest)
        guard case .ip4(_, let port) = await server.listeningAddress else { throw CocoaError(.featureUnsupported) }
        let value = try await body(WebServer(port: port))
        await server.stop()
        return value
    }
}

#if os(Linux)
/// A server on loopback that answers each request with a head and then bytes without end, until the client has closed the
/// connection. It blocks threads of its own: on the cooperative pool it would wait for other tests, and Linux's URLSession keeps
/// a processor busy while it waits for such a server.
final class FloodServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let head: [UInt8]

    /// - Parameter limit: how many bytes each connection gets; then the server waits for its end.
    init(head: String, limit: Int) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        unsafe address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, size) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard isBound else { throw CocoaError(.featureUnsupported) }
        (self.listener, self.head, port) = (listener, Array(head.utf8), address.sin_port.bigEndian)
        Thread.detachNewThread { [head = self.head] in
            while true {
                let connection = accept(listener, nil, nil)
                // The listener was shut down.
                guard connection >= 0 else { break }
                Thread.detachNewThread { Self.serve(connection, head, limit) }
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    var address: String { "http://127.0.0.1:\(port)/x" }

    private static func serve(_ connection: Int32, _ head: [UInt8], _ limit: Int) {
        defer { close(connection) }
        var request: [UInt8] = []
        var byte: UInt8 = 0
        while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard unsafe read(connection, &byte, 1) == 1 else { return }
            request.append(byte)
        }
        let chunk = [UInt8](repeating: 0, count: 65_536)
        guard send(head, to: connection) else { return }
        for _ in 0..<limit / chunk.count {
            guard send(chunk, to: connection) else { return }
        }
        while unsafe read(connection, &byte, 1) == 1 {}
    }

    /// - Returns: false if the client has closed the connection.
    private static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(connection, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
#endif
