import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptSQLite

@Suite("Database rows and cursors")
struct ReadingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func make(_ name: String) throws -> Database {
        let database = try Database(path: folder.file(name).path, creates: true, busyTimeout: .zero)
        try database.script("CREATE TABLE thing (number INTEGER, name TEXT); BEGIN")
        for number in 0..<500 { try database.run("INSERT INTO thing VALUES (?, 'x')", .integer(Int64(number))) }
        try database.script("COMMIT")
        return database
    }

    @Test("a cursor reads all rows while other rows are written")
    func cursor() throws {
        let database = try make("a")
        try database.script("CREATE TABLE other (number INTEGER)")
        let rows = try database.cursor("SELECT number FROM thing WHERE number >= ? ORDER BY number", .integer(100))
        var numbers: [Int64?] = []
        while let row = try rows.next() {
            numbers.append(row.integer(0))
            // Every write is a transaction of its own and waits for the disk, so only every tenth row is written.
            if numbers.count.isMultiple(of: 10) {
                try database.run("INSERT INTO other VALUES (?)", SQLiteValue(row.integer(0)))
            }
        }
        #expect(numbers == (100..<500).map(Optional.some))
        #expect(try database.first("SELECT count(*) FROM other") { $0.integer(0) } == 40)
    }

    @Test("a cursor over a missing table throws")
    func noTable() throws {
        let database = try make("a")
        #expect(throws: SQLiteError.self) { try database.cursor("SELECT 1 FROM nothing") }
    }

    @Test("text written as bytes is read back as text and bytes", arguments: ["", "a", "with \0 inside", "Grüße 👋🏽"])
    func bytes(_ text: String) throws {
        let database = try make("a")
        try database.run("DELETE FROM thing")
        try database.run("INSERT INTO thing (name) VALUES (?)", .utf8(Array(text.utf8)))
        #expect(try database.first("SELECT name, typeof(name) FROM thing") { $0.text(1) } == "text")
        #expect(try database.first("SELECT name FROM thing") { $0.bytes(0) } == .some(Array(text.utf8)))
        #expect(try database.first("SELECT CAST(name AS BLOB) FROM thing") { $0.bytes(0) } == .some(Array(text.utf8)))
        #expect(try database.rows("SELECT NULL") { $0.bytes(0) } == [nil])
    }
}
