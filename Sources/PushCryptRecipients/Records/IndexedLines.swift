import PushCryptSQLite

/// The lines of a file by its index.
final class IndexedLines: RecordSource {
    let path: String
    private let file: DirectoryFile
    private let index: RecipientIndex

    init(_ file: DirectoryFile, sameAs first: DirectoryFile, _ indexFile: IndexFile) throws {
        path = file.path
        self.file = file
        // Another process may have put an index of another file in its place.
        guard file.status.isSameFile(as: first.status),
            let index = RecipientIndex(indexFile.path), index.source.isOf(file.status)
        else { throw RecipientDirectory.replaced(file.path) }
        self.index = index
    }

    func record(_ name: RecordName) throws(RecipientDirectoryError) -> FoundRecord? {
        let found: RecipientIndex.Place?
        do throws(SQLiteError) {
            found = try index.place(of: name)
        } catch {
            throw RecipientDirectoryError(error, "the index of \(path)")
        }
        guard let place = found else { return nil }
        return try record(name, place, text(place))
    }

    func visitAll(_ body: (SourceEntry) throws -> Void) throws {
        let rows = try index.database.cursor(
            "SELECT line, offset, length, rival, kid, device FROM place ORDER BY kid, device")
        while let row = try rows.next() {
            let place = RecipientIndex.place(row)
            let (kid, device) = (row.text(4) ?? "", row.text(5) ?? "")
            let name = try RecordName(kid: kid, device: device)
            let text = try text(place)
            let outcome = Result { () throws(RecipientDirectoryError) in try record(name, place, text) }
            try body(SourceEntry(kid: kid, device: device, text: text, outcome: outcome))
        }
    }

    private func text(_ place: RecipientIndex.Place) throws(RecipientDirectoryError) -> [UInt8] {
        guard (0...LineScanner.limitInBytes).contains(place.byteCount) else { throw changed(place) }
        var text = [UInt8](repeating: 0, count: place.byteCount)
        guard try file.read(into: &text, at: place.offset) == text.count else { throw changed(place) }
        return text
    }

    private func record(
        _ name: RecordName, _ place: RecipientIndex.Place, _ text: consuming [UInt8]
    ) throws(RecipientDirectoryError) -> FoundRecord {
        if let rival = place.rival {
            throw RecipientDirectoryError(
                .collision,
                "\(path): lines \(place.line) and \(rival) have different records of key \(name): no choice is made",
                line: place.line)
        }
        do throws(StoredRecord.Failure) {
            return FoundRecord(record: try StoredRecord.read(text, named: name), line: place.line)
        } catch {
            switch error {
            case .foreign: throw changed(place)
            case .invalid(let error):
                throw RecipientDirectoryError(error, isPrivate: false, path, line: place.line)
            }
        }
    }

    private func changed(_ place: RecipientIndex.Place) -> RecipientDirectoryError {
        RecipientDirectoryError(
            .changedMeanwhile, "\(path): line \(place.line) isn't any more what was indexed; begin again",
            line: place.line)
    }
}
