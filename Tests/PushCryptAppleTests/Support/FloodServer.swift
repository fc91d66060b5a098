#if os(Linux)
import Foundation
import Glibc

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
