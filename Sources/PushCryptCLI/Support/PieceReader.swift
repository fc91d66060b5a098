import PushCryptFiles
import PushCryptPrimitives

/// A file or stdin piece by piece, in constant memory.
final class PieceReader {
    /// `stdin`, or the file's path.
    var name: String { file.path }
    private let file: OpenFile
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    /// - Parameter path: `-` is stdin.
    init(_ path: String = "-") throws(Failure) {
        file =
            path == "-"
            ? OpenFile(descriptor: STDIN_FILENO, named: "stdin")
            : try Self.reporting { () throws(FileError) in try OpenFile(path, waiting: true) }
    }

    /// - Returns: never an empty piece; nil at the end.
    func next() throws(Failure) -> ArraySlice<UInt8>? {
        let count = try Self.reporting { () throws(FileError) in try file.readSome(into: &chunk) }
        return count == 0 ? nil : chunk[..<count]
    }

    /// What can't be read is missing input, whatever the system says of it.
    private static func reporting<Value>(_ body: () throws(FileError) -> Value) throws(Failure) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw Failure(error.code == .noPermission ? .noPermission : .noInput, error.reason)
        }
    }
}
