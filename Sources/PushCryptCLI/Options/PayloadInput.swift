import ArgumentParser
import PushCryptCore
import PushCryptFiles

/// Where a command reads its payload or its lines: a file, or stdin.
struct PayloadInput: ParsableArguments {
    @Argument(
        help: .init("The file with the input; - is stdin. (default: stdin)", "FILE"), completion: .file())
    var file: String?

    func validate() throws {
        // Not repeated in the message: it is content.
        guard file?.drop(while: \.isWhitespace).first.map({ "{[".contains($0) }) != true else {
            throw ValidationError("A payload is given on stdin or in a file, not as an argument.")
        }
    }

    /// `-` is stdin.
    var path: String { file ?? "-" }

    /// The name in messages.
    var name: String { path == "-" ? "stdin" : path }

    /// The error about an input with nothing in it.
    var emptiness: String { "\(name) has no payload: it is empty" }

    /// Reads all of it.
    ///
    /// - Throws: `Failure` if it is longer than the limit, or can't be read.
    func readAll(limit: Int, or reason: String = ": not a payload") throws(Failure) -> [UInt8] {
        let bytes = try read(limit: limit)
        let place = path == "-" ? "on stdin" : "in \(path)"
        guard bytes.count <= limit else { throw Failure(.dataError, "more than \(limit) bytes \(place)\(reason)") }
        return bytes
    }

    /// Reads a payload.
    ///
    /// - Throws: `Failure` if it is empty or longer than the limit, or can't be read.
    func readPayload(limit: Int, or reason: String = ": not a payload") throws(Failure) -> [UInt8] {
        let payload = try readAll(limit: limit, or: reason)
        guard !payload.allSatisfy(\.isWhiteSpace) else { throw Failure(.dataError, emptiness) }
        return payload
    }

    /// Reads all of it, but at most `limit + 1` bytes. Refuses keys.
    func read(limit: Int) throws(Failure) -> [UInt8] {
        let bytes = try StandardStreams.readAll(path, limit: limit)
        try KeyFile.refuse(bytes, in: name)
        return bytes
    }
}
