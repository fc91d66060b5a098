package import PushCryptCore
import PushCryptPrimitives

/// Every record of a directory, read and judged.
package struct DirectoryCheck: Sendable {
    /// Recipients that can be sealed to.
    package private(set) var recipientCounts: [Suite: Int] = [:]
    /// All lines; nil for a database.
    package let lineCount: Int?
    package let duplicateCount: Int
    package private(set) var collisionCount = 0
    /// Lines and rows that nothing can be sealed to, and those that no lookup finds.
    package private(set) var badCount = 0
    /// The first collisions and bad records.
    package private(set) var problems: [Problem] = []

    package struct Problem: Hashable, Sendable {
        /// From 1; nil in a database.
        package let line: Int?
        package let isCollision: Bool
        package let reason: String
    }

    private static let problemLimit = 100

    package var isClean: Bool { collisionCount == 0 && badCount == 0 }

    /// - Parameter progress: is told how far it is, once for each 1,024 records; on this thread.
    /// - Throws: `RecipientDirectoryError` where the directory itself can't be read.
    package init(
        _ directory: RecipientDirectory, progress: (DirectoryProgress) -> Void = { _ in }
    ) throws(RecipientDirectoryError) {
        lineCount = directory.index?.lineCount
        duplicateCount = directory.index?.duplicateCount ?? 0
        do {
            try judgeAll(directory, progress)
        } catch {
            throw RecipientDirectoryError(error, directory.path)
        }
        guard let index = directory.index else { return }
        badCount += index.skippedCount
        let skipped = index.skippedLines.map { line in
            Problem(
                line: line.number, isCollision: false, reason: "\(directory.path): line \(line.number): \(line.reason)")
        }
        problems = (problems + skipped).sorted { ($0.line ?? 0) < ($1.line ?? 0) }
    }

    private mutating func judgeAll(_ directory: RecipientDirectory, _ progress: (DirectoryProgress) -> Void) throws {
        try directory.visitAll(progress) { entry in
            var entry = entry
            defer { wipe(&entry.text) }
            do throws(RecipientDirectoryError) {
                let recipient = try entry.outcome.get().recipient(directory.path)
                recipientCounts[recipient.suite, default: 0] += 1
            } catch {
                // The whole file is something else by now: no judgement on single lines.
                guard error.code != .changedMeanwhile else { throw error }
                add(error)
            }
        }
    }

    private mutating func add(_ error: RecipientDirectoryError) {
        let isCollision = error.code == .collision
        if isCollision { collisionCount += 1 } else { badCount += 1 }
        guard problems.count < Self.problemLimit else { return }
        problems.append(Problem(line: error.lineNumber, isCollision: isCollision, reason: error.reason))
    }
}
