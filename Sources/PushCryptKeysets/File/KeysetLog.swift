package import PushCryptCore
import PushCryptPrimitives

/// The log of a keyset: all that was changed, in lines that are chained by hashes. It is only appended to.
///
/// ```
/// log = *(LINE LF)                                  at least one
/// ```
/// Every log in memory is one that was read: a line that is appended goes through the reader, too.
package struct KeysetLog: Sendable {
    /// All rows with their line feeds.
    package private(set) var bytes: [UInt8]
    package private(set) var lines: [KeysetLine] = []
    package private(set) var state: KeysetState
    /// For each line the number of bytes up to its end.
    private var ends: [Int] = []
    private var hashes: [[UInt8]] = []
    private var over: Set<LogPoint> = []

    /// The limit of a file, in bytes.
    package static let maximumByteCount = 4 << 20
    private static let lineFeed = UInt8(ascii: "\n")

    /// - Parameter bytes: the rows of a log, and nothing after them.
    /// - Throws: `KeysetLogError`.
    package init(_ bytes: [UInt8]) throws {
        guard bytes.count <= Self.maximumByteCount else { throw KeysetLogError(.tooLarge, row: 0) }
        guard bytes.last == Self.lineFeed else { throw KeysetLogError(.incomplete, row: 0) }
        var rows = bytes.split(separator: Self.lineFeed, omittingEmptySubsequences: false).dropLast().makeIterator()
        try self.init(firstRow: Array(rows.next()!))
        while let row = rows.next() { try append(row: Array(row)) }
    }

    private init(firstRow row: [UInt8]) throws {
        let (line, hash) = (try KeysetLine(row, row: 1), try Self.hash(row))
        state = try KeysetState(line, hash: hash)
        bytes = []
        keep(line, hash, row)
    }

    private mutating func append(row: [UInt8]) throws {
        let (line, hash) = (try KeysetLine(row, row: lines.count + 1), try Self.hash(row))
        try state.apply(line, hash: hash, row: lines.count + 1)
        keep(line, hash, row)
    }

    private mutating func keep(_ line: KeysetLine, _ hash: [UInt8], _ row: [UInt8]) {
        bytes += row
        bytes.append(Self.lineFeed)
        lines.append(line)
        hashes.append(hash)
        ends.append(bytes.count)
        over.formUnion(line.changes.over)
    }

    /// Splits a file into the rows of a log and the last row, without its line feed, and its number.
    ///
    /// - Throws: `KeysetLogError` with `incomplete` if there aren't two rows.
    static func splittingLastRow(
        _ file: [UInt8]
    ) throws(KeysetLogError) -> (rows: ArraySlice<UInt8>, last: ArraySlice<UInt8>, row: Int) {
        guard file.last == lineFeed, let end = file.dropLast().lastIndex(of: lineFeed) else {
            throw KeysetLogError(.incomplete, row: 0)
        }
        return (file[...end], file[(end + 1)...].dropLast(), file[...end].count { $0 == lineFeed } + 1)
    }

    private static func hash(_ row: [UInt8]) throws -> [UInt8] { try DefaultBackend.shared.sha256(row.bytes) }

    /// Begins the log of a new keyset.
    ///
    /// - Throws: `KeysetLogError` for changes that line 1 can't have.
    package init(
        creating id: KeysetID, _ kind: KeyKind, at: UnixTime, who: String, why: KeysetLine.Reason? = nil,
        _ changes: KeysetChanges
    ) throws {
        let none = [UInt8](repeating: 0, count: KeysetLine.hashByteCount)
        let line = KeysetLine(
            number: 1, at: at, who: who, .created, previous: none, why: why, origin: .init(id, kind), changes)
        try self.init(firstRow: line.json)
    }

    /// The log with one more line.
    ///
    /// - Parameter number: for a restoration, above each number that it met; nil for the next one.
    /// - Throws: `KeysetLogError` for changes that a reader would refuse.
    package func appending(
        _ action: KeysetLine.Action, at: UnixTime, who: String, why: KeysetLine.Reason? = nil, number: Int64? = nil,
        _ changes: KeysetChanges
    ) throws -> KeysetLog {
        let line = KeysetLine(
            number: number ?? state.head.number + 1, at: at, who: who, action, previous: state.head.hash, why: why,
            origin: nil, changes)
        var log = self
        try log.append(row: line.json)
        return log
    }
}

/// Points: the one check of copies.
extension KeysetLog {
    /// Whether this log goes on from a point: it has that line, or a person has given that line up.
    package func extends(_ point: LogPoint) -> Bool {
        over.contains(point) || index(of: point) != nil
    }

    /// Whether this log goes on from the last line of another one: it begins with the other's bytes, or a person has given up the
    /// rest.
    package func extends(_ other: KeysetLog) -> Bool { extends(other.state.head) }

    /// The points of all lines.
    package var points: [LogPoint] {
        zip(lines, hashes).map { LogPoint(number: $0.number, hash: $1) }
    }

    /// The points of all lines, and those that restorations have given up.
    package var allPoints: Set<LogPoint> { over.union(points) }

    /// The log up to a line; nil if it doesn't have that line itself.
    package func upTo(_ point: LogPoint) -> KeysetLog? {
        guard let last = index(of: point) else { return nil }
        guard last < lines.count - 1 else { return self }
        return try? KeysetLog(Array(bytes[..<ends[last]]))
    }

    private func index(of point: LogPoint) -> Int? {
        // Numbers rise.
        var (low, high) = (0, lines.count)
        while low < high {
            let middle = (low + high) / 2
            if lines[middle].number < point.number { low = middle + 1 } else { high = middle }
        }
        return low < lines.count && lines[low].number == point.number && hashes[low] == point.hash ? low : nil
    }
}
