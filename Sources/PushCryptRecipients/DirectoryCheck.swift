package import PushCryptCore

/// Every record of a directory, read and judged.
package struct DirectoryCheck: Sendable {
    /// Recipients that can be sealed to.
    package private(set) var recipientCounts: [Suite: Int] = [:]
    /// Ids with several records. Only a table with another key than ours can have them.
    package private(set) var collisionCount = 0
    /// Rows that nothing can be sealed to, and those that no lookup finds.
    package private(set) var badCount = 0
    /// The first collisions and bad records.
    package private(set) var problems: [Problem] = []

    package struct Problem: Hashable, Sendable {
        package let isCollision: Bool
        package let reason: String
    }

    private static let problemLimit = 100
    /// Rows come in the order of their names.
    private var last: (name: RecordName, suite: Suite?, isCollision: Bool)?

    package var isClean: Bool { collisionCount == 0 && badCount == 0 }

    /// - Parameter progress: is called once for each 1,024 records, on this thread.
    /// - Throws: `RecipientDirectoryError` if the directory itself can't be read.
    package init(
        _ directory: RecipientDirectory, progress: (DirectoryProgress) -> Void = { _ in }
    ) throws(RecipientDirectoryError) {
        do {
            try directory.makeReader().visitAll(progress) { row in judge(row, directory.path) }
        } catch {
            throw RecipientDirectoryError(error, directory.path)
        }
        countLast()
    }

    private mutating func judge(_ row: RecipientReader.Row, _ path: String) {
        do throws(RecipientDirectoryError) {
            let (name, record) = try row.outcome.get()
            guard name == last?.name else {
                countLast()
                last = (name, record.suite, false)
                return
            }
            guard last?.isCollision == false else { return }
            last?.isCollision = true
            collisionCount += 1
            add(Problem(isCollision: true, reason: "\(path): several records of key \(name): no choice is made"))
        } catch {
            badCount += 1
            add(Problem(isCollision: false, reason: error.reason))
        }
    }

    private mutating func countLast() {
        if let suite = last?.suite, last?.isCollision == false { recipientCounts[suite, default: 0] += 1 }
        last = nil
    }

    private mutating func add(_ problem: Problem) {
        if problems.count < Self.problemLimit { problems.append(problem) }
    }
}

/// How far the work on a directory is.
package struct DirectoryProgress: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// Of the bytes of a file of JSON lines.
        case reading
        /// Of the records that are checked or copied.
        case visiting
    }

    package let phase: Phase
    package let done: Int64
    /// nil for the records of a database, which would have to be read once more to be counted.
    package let total: Int64?
}
