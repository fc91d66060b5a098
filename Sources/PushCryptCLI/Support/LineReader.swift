#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The lines of a file or of stdin one by one, so that memory doesn't grow with their number.
final class LineReader {
    private let descriptor: Int32
    private let path: String
    private var buffer = [UInt8]()
    private var start = 0
    private var isAtEnd = false

    /// Of a line; a longer one is no line of anything.
    private static let limitInBytes = 65_536

    /// - Parameter path: `-` is stdin.
    init(_ path: String) throws(Failure) {
        self.path = path == "-" ? "stdin" : path
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(errno == EACCES ? .noPermission : .noInput, "can't read \(path): \(Self.reason)")
        }
    }

    deinit {
        if descriptor > STDERR_FILENO { close(descriptor) }
    }

    /// The next line without its newline; nil at the end.
    func next() throws(Failure) -> [UInt8]? {
        while true {
            if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return Array(buffer[start..<end])
            }
            guard !isAtEnd else {
                defer { start = buffer.count }
                return start < buffer.count ? Array(buffer[start...]) : nil
            }
            guard buffer.count - start <= Self.limitInBytes else {
                throw Failure(.dataError, "\(path) has a line longer than \(Self.limitInBytes) bytes")
            }
            try fill()
        }
    }

    private func fill() throws(Failure) {
        var chunk = [UInt8](repeating: 0, count: Self.limitInBytes)
        var count: Int
        repeat {
            count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw Failure(.noInput, "can't read \(path): \(Self.reason)") }
        buffer.removeSubrange(..<start)
        start = 0
        buffer += chunk[..<count]
        isAtEnd = count == 0
    }

    private static var reason: String { unsafe String(cString: strerror(errno)) }
}

extension String {
    /// What `LineReader` calls the file.
    var asInput: String { self == "-" ? "stdin" : self }
}
