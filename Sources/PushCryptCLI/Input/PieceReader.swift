import PushCryptPrimitives

/// A file or stdin piece by piece, in constant memory.
final class PieceReader {
    /// `stdin`, or the file's path.
    let name: String
    private let descriptor: Int32
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    /// - Parameter path: `-` is stdin.
    init(_ path: String) throws(Failure) {
        name = path == "-" ? "stdin" : path
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno == EACCES ? .noPermission : .noInput) }
    }

    deinit {
        if descriptor > STDERR_FILENO { close(descriptor) }
    }

    /// - Returns: never an empty piece; nil at the end.
    func next() throws(Failure) -> [UInt8]? {
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(.noInput) }
            return count == 0 ? nil : Array(chunk[..<count])
        }
    }

    private func failure(_ status: ExitStatus) -> Failure {
        Failure(status, "can't read \(name): \(unsafe String(cString: strerror(errno)))")
    }
}
