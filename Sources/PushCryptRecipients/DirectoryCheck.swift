package import PushCryptCore

/// Checks every record of a directory.
package struct DirectoryCheck: Sendable {
    /// The number of recipients that can be sealed to.
    package private(set) var recipientCounts: [Suite: Int] = [:]
    /// The number of ids with several records. A table that pushcrypt made has none, because of its primary key.
    package private(set) var collisionCount = 0
    /// The number of rows that can't be sealed to or that no lookup finds.
    package private(set) var badCount = 0
    /// The first 100 collisions and bad records.
    package private(set) var problems: [Problem] = []

    package struct Problem: Hashable, Sendable {
        package let isCollision: Bool
        package let reason: String
    }

    private static let problemLimit = 100
    /// The previous valid row. Rows are read in the order of their names.
    private var last: (name: RecordName, suite: Suite?, isCollision: Bool)?

    package var isClean: Bool { collisionCount == 0 && badCount == 0 }

    /// - Parameter progress: called on this thread for each 1,024 records.
    /// - Throws: `RecipientDirectoryError` if the directory can't be read.
    package init(
        _ directory: RecipientDirectory, progress: (DirectoryProgress) -> Void = { _ in }
    ) throws(RecipientDirectoryError) {
        do {
            try directory.makeReader().visitAll(progress) { row in check(row, directory.path) }
        } catch {
            throw RecipientDirectoryError(error, directory.path)
        }
        countLast()
    }

    private mutating func check(_ row: RecipientReader.Row, _ path: String) {
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
            add(Problem(isCollision: true, reason: "\(path): several records of key \(name); none is used"))
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

/// The progress of an import or a check.
package struct DirectoryProgress: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// Reading a file of JSON lines; counts bytes.
        case reading
        /// Checking or copying records; counts records.
        case visiting
    }

    package let phase: Phase
    package let done: Int64
    /// nil for the records of a database: counting them would take a second pass.
    package let total: Int64?
}
