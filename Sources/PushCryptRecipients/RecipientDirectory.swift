/// The keys of many recipients by their ids, in a file.
///
/// ```
/// JSON lines   a record on each line, as apps upload them: a JWK of suite 1 or 2, with its psk if it has one, a device's
///              key of a shared master, or a shared key. FILE.index says where each lies.
/// database     CREATE TABLE recipients (kid TEXT NOT NULL, device TEXT NOT NULL DEFAULT '', record TEXT NOT NULL,
///                  PRIMARY KEY (kid, device)) WITHOUT ROWID
/// ```
/// Which of them it is says its beginning, not its name. Records hold secrets: a file that others can reach is refused.
package final class RecipientDirectory: Sendable {
    package let path: String
    /// What the lines are; nil for a database.
    package let index: IndexReport?
    let content: Content

    enum Content: Sendable {
        case lines(DirectoryFile, IndexFile)
        case database(DirectoryFile)
    }

    private static let attempts = 3

    /// Opens the directory. Of JSON lines it makes the index, where there is none or the file has changed.
    ///
    /// - Parameter progress: is told how far that is, about once for each MiB; on this thread.
    /// - Throws: `RecipientDirectoryError` with any code but `collision`, `privateKey`, `invalidRecord`.
    package init(
        path: String, progress: @escaping (DirectoryProgress) -> Void = { _ in }
    ) throws(RecipientDirectoryError) {
        self.path = path
        do {
            content = try Self.content(path, progress)
        } catch {
            throw RecipientDirectoryError(error, path)
        }
        index = if case .lines(_, let index) = content { index.report } else { nil }
        guard let index, index.recipientCount == 0, index.skippedCount > 0 else { return }
        throw RecipientDirectoryError(
            .notADirectory, "\(path): none of its \(index.lineCount) lines is a recipient's record on one line")
    }

    /// A reader for one thread; readers don't wait for each other.
    ///
    /// - Throws: `RecipientDirectoryError` with `changedMeanwhile` when another file has taken the directory's name.
    package func makeReader() throws(RecipientDirectoryError) -> RecipientReader {
        do {
            return RecipientReader(try source())
        } catch {
            throw RecipientDirectoryError(error, path)
        }
    }

    func source() throws -> any RecordSource {
        switch content {
        case .lines(let file, let index): try IndexedLines(DirectoryFile(path), sameAs: file, index)
        case .database(let file): try RecipientTable(path, sameAs: file)
        }
    }

    /// All records one after the other.
    ///
    /// - Parameter progress: is told how far that is, once for each 1,024; on this thread.
    func visitAll(_ progress: (DirectoryProgress) -> Void, _ body: (SourceEntry) throws -> Void) throws {
        let total = index.map { Int64($0.recipientCount) }
        var done: Int64 = 0
        try source().visitAll { entry in
            try body(entry)
            done += 1
            if done & 0x3ff == 0 { progress(DirectoryProgress(phase: .visiting, done: done, total: total)) }
        }
    }

    /// Once more where another file took the name meanwhile.
    private static func content(
        _ path: String, _ progress: @escaping (DirectoryProgress) -> Void
    ) throws -> Content {
        for _ in 0..<attempts {
            let file = try DirectoryFile(path)
            let content = try content(of: file, progress)
            if !file.hasMoved { return content }
        }
        throw replaced(path)
    }

    private static func content(
        of file: DirectoryFile, _ progress: @escaping (DirectoryProgress) -> Void
    ) throws -> Content {
        guard try !file.isDatabase else {
            _ = try RecipientTable(file.path, sameAs: file)
            return .database(file)
        }
        return .lines(file, try IndexFile(of: file, progress: progress))
    }

    static func replaced(_ path: String) -> RecipientDirectoryError {
        RecipientDirectoryError(.changedMeanwhile, "\(path) was replaced by another file; begin again")
    }
}
