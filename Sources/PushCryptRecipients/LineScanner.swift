import PushCryptPrimitives

/// Reads a file line by line in constant memory.
final class LineScanner {
    struct Line {
        /// Counted from 1.
        let number: Int
        let offset: Int64
        /// Without the newline.
        let byteCount: Int
        /// Empty for a line that is longer than ``LineScanner/limitInBytes``. The caller wipes it.
        var bytes: [UInt8]

        var isTooLong: Bool { bytes.isEmpty && byteCount > 0 }
    }

    /// The longest line that is read. It is many times the length of a record.
    static let limitInBytes = 65_536

    private let file: DirectoryFile
    private let end: Int64
    private var chunk = [UInt8](repeating: 0, count: 1 << 18)
    private var unread = 0..<0
    /// The offset of the first unread byte in the file.
    private(set) var offset: Int64 = 0
    private var number = 0

    /// - Parameter end: the offset to stop at. Bytes that are appended later aren't read.
    init(_ file: DirectoryFile, to end: Int64) {
        self.file = file
        self.end = end
    }

    deinit { wipe(&chunk) }

    /// - Returns: nil after the last line.
    func next() throws(RecipientDirectoryError) -> Line? {
        guard try fill() else { return nil }
        number += 1
        let start = offset
        var byteCount = 0
        var bytes = [UInt8]()
        bytes.reserveCapacity(512)
        while try fill() {
            let rest = chunk[unread]
            let newline = rest.firstIndex(of: UInt8(ascii: "\n"))
            let piece = rest[..<(newline ?? rest.endIndex)]
            byteCount += piece.count
            if byteCount <= Self.limitInBytes { bytes += piece } else { wipe(&bytes) }
            advance(by: piece.count + (newline == nil ? 0 : 1))
            if newline != nil { break }
        }
        return Line(number: number, offset: start, byteCount: byteCount, bytes: bytes)
    }

    private func advance(by count: Int) {
        unread = unread.lowerBound + count..<unread.upperBound
        offset += Int64(count)
    }

    /// - Returns: false at the end.
    private func fill() throws(RecipientDirectoryError) -> Bool {
        guard unread.isEmpty else { return true }
        let wanted = Int(min(Int64(chunk.count), end - offset))
        guard wanted > 0 else { return false }
        let count = try min(file.read(into: &chunk, at: offset), wanted)
        guard count > 0 else { return false }
        unread = 0..<count
        return true
    }
}
