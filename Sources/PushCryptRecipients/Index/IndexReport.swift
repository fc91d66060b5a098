/// What the lines of a directory are, as its index was made.
package struct IndexReport: Hashable, Sendable {
    /// All lines of the file.
    package internal(set) var lineCount = 0
    /// Different ids, counting each device of a shared key.
    package internal(set) var recipientCount = 0
    /// Lines that say again what another line says.
    package internal(set) var duplicateCount = 0
    /// Ids that several keys have.
    package internal(set) var collisionCount = 0
    /// Lines that nothing can be looked up in: not JSON, no kid, or another key under a kid that it isn't the key of.
    package internal(set) var skippedCount = 0
    /// The first of them.
    package internal(set) var skippedLines: [SkippedLine] = []

    package struct SkippedLine: Hashable, Sendable {
        /// From 1.
        package let number: Int
        package let reason: String
    }

    /// How many skipped lines are kept with their reasons.
    package static let skippedLineLimit = 100

    /// Takes back the line behind the last whole one.
    mutating func forgetTail() {
        (skippedCount, lineCount) = (skippedCount - 1, lineCount - 1)
        if let last = skippedLines.last, last.number > lineCount { skippedLines.removeLast() }
    }

    mutating func skip(_ number: Int, _ reason: String) {
        skippedCount += 1
        if skippedLines.count < Self.skippedLineLimit {
            skippedLines.append(SkippedLine(number: number, reason: reason))
        }
    }
}
