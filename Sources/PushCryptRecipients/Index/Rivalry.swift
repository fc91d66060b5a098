import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// Decides between two lines of one name. A key that isn't what its kid says never stands against one that is: else whoever
/// can add a line could take anybody out of the directory.
struct Rivalry {
    private let file: DirectoryFile
    private let database: Database

    init(_ file: DirectoryFile, _ database: Database) {
        self.file = file
        self.database = database
    }

    /// - Parameter newcomer: a line behind the one that the index has.
    func settle(
        _ name: RecordName, _ newcomer: RecipientIndex.Place, _ report: inout IndexReport
    ) throws {
        let row = try database.first(
            "SELECT line, offset, length, rival FROM place WHERE kid = ? AND device = ?",
            .text(name.kid.description), .text(name.deviceText), read: RecipientIndex.place)
        guard let holder = row else { return }
        switch (try record(name, holder), try record(name, newcomer)) {
        case (_, .failure(let reason)): report.skip(newcomer.line, reason.words)
        case (.failure(let reason), .success):
            try database.run(
                "UPDATE place SET line = ?, offset = ?, length = ? WHERE kid = ? AND device = ?",
                .integer(Int64(newcomer.line)), .integer(newcomer.offset), .integer(Int64(newcomer.byteCount)),
                .text(name.kid.description), .text(name.deviceText))
            report.skip(holder.line, reason.words)
        case (.success(let first), .success(let second)) where first.isSameRecipient(as: second):
            report.duplicateCount += 1
        case (.success, .success):
            guard holder.rival == nil else { return }
            try database.run(
                "UPDATE place SET rival = ? WHERE kid = ? AND device = ?", .integer(Int64(newcomer.line)),
                .text(name.kid.description), .text(name.deviceText))
            report.collisionCount += 1
        }
    }

    private struct Unusable: Error {
        let words: String
    }

    private func record(
        _ name: RecordName, _ place: RecipientIndex.Place
    ) throws -> Result<KeyRecord, Unusable> {
        var text = [UInt8](repeating: 0, count: place.byteCount)
        defer { wipe(&text) }
        guard try file.read(into: &text, at: place.offset) == text.count else {
            throw RecipientDirectoryError(.changedMeanwhile, "\(file.path) was changed while it was indexed")
        }
        do throws(StoredRecord.Failure) {
            let record = try StoredRecord.read(text, named: name)
            do throws(KeyError) { try record.requireRecipient() } catch { throw .invalid(error) }
            return .success(record)
        } catch {
            switch error {
            case .invalid(let error): return .failure(Unusable(words: error.reason))
            case .foreign:
                throw RecipientDirectoryError(.changedMeanwhile, "\(file.path) was changed while it was indexed")
            }
        }
    }
}
