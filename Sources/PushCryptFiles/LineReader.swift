import PushCryptPrimitives

/// Reads a file of lines in constant memory. Every file of lines follows one rule:
///
/// ```
/// file = [U+FEFF] *(line LF) [line] *(blank LF) [blank]
/// ```
/// - Carriage returns, spaces and tabs at the end of a line aren't part of it.
/// - Blank lines after the last other line don't count. A blank line between others is an empty line.
/// - A file in UTF-16 is refused.
package final class LineReader {
    package struct Line: Sendable {
        /// Counted from 1.
        package let number: Int
        /// The offset of its first byte in the file.
        package let offset: Int64
        /// The line with the white space at its end, without the newline; empty for a line that is longer than the limit. The
        /// caller wipes secrets.
        package var raw: [UInt8]
        package var isTooLong = false

        /// The line without the white space at its end.
        package var bytes: ArraySlice<UInt8> { raw[..<(raw.lastIndex { !$0.isLineSpace }.map { $0 + 1 } ?? 0)] }
    }

    /// Whole lines, or a piece of a line that is longer than the limit.
    package struct Block: Sendable {
        package enum Content: Sendable {
            /// Only the last line of the file may lack its newline.
            case lines([UInt8])
            /// A piece of a long line, without the newline.
            case longLine(piece: [UInt8], isLast: Bool)
        }

        package private(set) var content: Content
        /// The number of its first line, counted from 1.
        package let number: Int
        /// The offsets of its first byte and of the byte after its last one.
        package let offset, end: Int64

        /// The whole lines; empty for a long line.
        package var lines: [Line] {
            guard case .lines(let bytes) = content else { return [] }
            var (lines, start) = ([Line](), 0)
            while start < bytes.count {
                let end = bytes[start...].firstIndex(of: .newline) ?? bytes.count
                let raw = Array(bytes[start..<end])
                lines.append(Line(number: number + lines.count, offset: offset + Int64(start), raw: raw))
                start = end + 1
            }
            return lines
        }

        fileprivate mutating func wipe() {
            guard case .lines(var bytes) = content else { return }
            content = .lines([])
            PushCryptPrimitives.wipe(&bytes)
        }
    }

    private let file: OpenFile
    private let limitInBytes: Int
    private let isOneByOne: Bool
    private let mayRead: () -> Bool
    private var bytesLeft: Int64
    private var chunk = [UInt8](repeating: 0, count: 65_536)
    private var unread = 0..<0
    /// Blank lines and the beginning of a line, which belong to the next block.
    private var begun: [UInt8] = []
    private var isInsideLongLine = false
    private var isAtStart = true
    /// In reverse order, so that the caller gets the only copy of each.
    private var lines: [Line] = []
    /// The number of the next block's first line.
    private var number = 1
    /// The offset of the next block's first byte.
    package private(set) var start: Int64 = 0
    /// Whether the file has fewer lines than were to be skipped.
    package private(set) var isPastEnd = false

    /// - Parameters:
    ///   - file: at its beginning.
    ///   - limitInBytes: the longest line. One that one read returned may be longer.
    ///   - first: the number of the first line that is returned.
    ///   - end: the number of bytes to read. Bytes that are appended later aren't read.
    ///   - isOneByOne: whether a block has one line and no line waits for the lines after it. Then a blank line is always an
    ///     empty line.
    ///   - mayRead: called before each read of the file; false ends the lines, and the beginning of an incomplete line is dropped.
    /// - Throws: `FileError` with `otherEncoding`, `inputOutput`.
    package init(
        _ file: OpenFile, limitInBytes: Int, from first: Int = 1, upTo end: Int64 = .max,
        oneByOne isOneByOne: Bool = false, mayRead: @escaping () -> Bool = { true }
    ) throws(FileError) {
        (self.file, self.limitInBytes, self.isOneByOne, self.mayRead) = (file, limitInBytes, isOneByOne, mayRead)
        bytesLeft = end
        while number < first, try fill() { skipLine() }
        isPastEnd = number < first
    }

    deinit {
        wipe(&chunk)
        wipe(&begun)
    }

    /// The next line; nil after the last one.
    package func next() throws(FileError) -> Line? {
        while lines.isEmpty {
            guard var block = try nextBlock() else { return nil }
            lines = block.lines.reversed()
            block.wipe()
            guard case .longLine(_, isLast: true) = block.content else { continue }
            return Line(number: block.number, offset: block.offset, raw: [], isTooLong: true)
        }
        return lines.popLast()
    }

    /// The next block; nil after the last one.
    package func nextBlock() throws(FileError) -> Block? {
        while try fill() {
            if let block = isInsideLongLine ? restOfLongLine() : wholeLines() { return block }
        }
        guard bytesLeft == 0, isInsideLongLine || begun.contains(where: { !$0.isLineSpace && $0 != .newline }) else {
            return nil
        }
        defer { isInsideLongLine = false }
        return isInsideLongLine ? block(.longLine(piece: [], isLast: true)) : block(.lines(take(begun.count)))
    }

    /// - Returns: false at the end.
    private func fill() throws(FileError) -> Bool {
        while unread.isEmpty, bytesLeft > 0 {
            guard mayRead() else {
                bytesLeft = -1
                return false
            }
            let count = Int64(try file.readSome(into: &chunk))
            unread = 0..<Int(min(count, bytesLeft))
            bytesLeft = count == 0 ? 0 : bytesLeft - Int64(unread.count)
            if isAtStart { try removeByteOrderMark() }
        }
        return !unread.isEmpty
    }

    private func removeByteOrderMark() throws(FileError) {
        isAtStart = false
        switch TextEncoding(of: chunk[unread].bytes) {
        case nil: return
        case .utf8WithByteOrderMark?:
            unread = 3..<unread.upperBound
            start = 3
        case let encoding?: throw FileError(.otherEncoding, file.path, "\(file.path) is \(encoding.flaw)")
        }
    }

    private func skipLine() {
        let newline = chunk[unread].firstIndex(of: .newline)
        let end = newline.map { $0 + 1 } ?? unread.upperBound
        start += Int64(end - unread.lowerBound)
        unread = end..<unread.upperBound
        if newline != nil { number += 1 }
    }

    private func wholeLines() -> Block? {
        let piece = chunk[unread]
        let newline = isOneByOne ? piece.firstIndex(of: .newline) : piece.lastIndex(of: .newline)
        let end = newline.map { $0 + 1 } ?? piece.endIndex
        var old = begun
        begun = old + piece[..<end]
        wipe(&old)
        unread = end..<unread.upperBound
        if newline != nil {
            if isOneByOne { return block(.lines(take(begun.count))) }
            // A blank line may be one after the last other line.
            if let last = begun.lastIndex(where: { !$0.isLineSpace && $0 != .newline }) {
                return block(.lines(take(begun[last...].firstIndex(of: .newline)! + 1)))
            }
        }
        guard begun.count > limitInBytes else { return nil }
        if let blank = begun.lastIndex(of: .newline) { return block(.lines(take(blank + 1))) }
        isInsideLongLine = true
        return block(.longLine(piece: take(begun.count), isLast: false))
    }

    private func restOfLongLine() -> Block {
        let piece = chunk[unread]
        let newline = piece.firstIndex(of: .newline)
        unread = (newline.map { $0 + 1 } ?? unread.upperBound)..<unread.upperBound
        isInsideLongLine = newline == nil
        return block(.longLine(piece: Array(piece[..<(newline ?? piece.endIndex)]), isLast: newline != nil))
    }

    private func block(_ content: Block.Content) -> Block {
        let (first, offset) = (number, start)
        switch content {
        case .lines(let bytes):
            number += bytes.count { $0 == .newline } + (bytes.last == .newline ? 0 : 1)
            start += Int64(bytes.count)
        case .longLine(let piece, let isLast):
            number += isLast ? 1 : 0
            start += Int64(piece.count) + (isLast ? 1 : 0)
        }
        return Block(content: content, number: first, offset: offset, end: start)
    }

    /// Removes the first bytes of `begun`, without copies of secrets that an array leaves when it shrinks.
    private func take(_ count: Int) -> [UInt8] {
        var old = begun
        begun = Array(old[count...])
        guard count < old.count else { return old }
        defer { wipe(&old) }
        return Array(old[..<count])
    }
}

extension UInt8 {
    package static let newline = UInt8(ascii: "\n")

    /// Whether this is white space that isn't part of a line if it is at its end.
    fileprivate var isLineSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0D }
}
