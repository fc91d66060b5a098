import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptSQLite

@Suite struct DatabaseTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("database").path
        let database = try Database(path: path, creates: true, busyTimeout: .zero)
        try database.script(
            "CREATE TABLE thing (number INTEGER, name TEXT UNIQUE); CREATE TABLE other (number INTEGER)")
    }

    private func open() throws -> Database { try Database(path: path, busyTimeout: .zero) }

    @Test(
        "text is stored and read unchanged",
        arguments: [
            "", "a", "with \0 inside", "'; DROP TABLE thing; --", "Grüße 👋🏽", String(repeating: "x", count: 70_000),
        ])
    func text(_ text: String) throws {
        let database = try open()
        try database.run("INSERT INTO thing (name) VALUES (?)", .text(text))
        #expect(try database.rows("SELECT name FROM thing") { $0.text(0) } == [text])
        #expect(try database.first("SELECT typeof(name) FROM thing") { $0.text(0) } == "text")
    }

    @Test("integers are stored and read unchanged", arguments: [0, -1, 1, Int64.min, Int64.max])
    func integer(_ integer: Int64) throws {
        let database = try open()
        try database.run("INSERT INTO thing (number) VALUES (?)", .integer(integer))
        #expect(try database.rows("SELECT number FROM thing") { $0.integer(0) } == [integer])
    }

    @Test("NULL is stored and read as nil")
    func null() throws {
        let database = try open()
        try database.run("INSERT INTO thing VALUES (?, ?)", SQLiteValue(nil as Int64?), SQLiteValue(nil as String?))
        let row = try database.first("SELECT * FROM thing") { ($0.integer(0), $0.text(1)) }
        #expect(row?.0 == nil && row?.1 == nil)
    }

    @Test("a statement is used again without its previous values")
    func reuse() throws {
        let database = try open()
        for number in 0..<3 { try database.run("INSERT INTO thing (number) VALUES (?)", .integer(Int64(number))) }
        try database.run("INSERT INTO thing (number) VALUES (?)")
        let numbers = try database.rows("SELECT number FROM thing ORDER BY rowid") { $0.integer(0) }
        #expect(numbers == [0, 1, 2, nil])
    }

    @Test("run returns the number of changed rows")
    func count() throws {
        let database = try open()
        for _ in 0..<3 { try database.run("INSERT INTO thing (number) VALUES (7)") }
        #expect(try database.run("DELETE FROM thing WHERE number = ?", .integer(7)) == 3)
        #expect(try database.run("DELETE FROM thing WHERE number = ?", .integer(7)) == 0)
    }

    @Test("a failed transaction changes nothing, and the next one succeeds")
    func rollback() throws {
        let database = try open()
        #expect(throws: SQLiteError.self) {
            try database.transaction { () throws(SQLiteError) in
                try database.run("INSERT INTO thing (name) VALUES ('a')")
                try database.run("INSERT INTO thing (name) VALUES ('a')")
            }
        }
        #expect(try database.first("SELECT count(*) FROM thing") { $0.integer(0) } == 0)
        try database.transaction { () throws(SQLiteError) in
            _ = try database.run("INSERT INTO thing (name) VALUES ('a')")
        }
        #expect(try open().first("SELECT count(*) FROM thing") { $0.integer(0) } == 1)
    }

    @Test("a lock of another connection throws busy and not damaged")
    func busy() throws {
        let (database, other) = (try open(), try open())
        try database.transaction { () throws(SQLiteError) in
            let error = #expect(throws: SQLiteError.self) {
                try other.transaction { () throws(SQLiteError) in _ = try other.run("DELETE FROM thing") }
            }
            #expect(error?.kind == .busy)
        }
        try other.transaction { () throws(SQLiteError) in _ = try other.run("DELETE FROM thing") }
    }

    @Test("opening a missing file throws unavailable and doesn't create it")
    func noSuchFile() throws {
        let error = #expect(throws: SQLiteError.self) {
            try Database(path: folder.file("none").path, busyTimeout: .zero)
        }
        #expect(error?.kind == .unavailable)
        #expect(try folder.names() == ["database"])
    }

    @Test("hasMoved is true after the file was replaced or removed")
    func hasMoved() throws {
        let database = try open()
        #expect(!database.hasMoved)
        let shared = try SharedFolder(folder.path)
        try shared.create("new")
        try shared.rename("new", to: "database")
        #expect(database.hasMoved)
        #expect(try !open().hasMoved)
        shared.remove("database")
        #expect(database.hasMoved)
    }

    /// SQLite's extended codes with the values of errno. The first three are those of a file that its protection class makes
    /// unreadable.
    @Test(
        "each SQLite error code with its errno is converted to its kind",
        arguments: [
            (23, 0, SQLiteError.Kind.locked), (14, 1, .locked), (10 | 1 << 8, 1, .locked), (14, 2, .unavailable),
            (14, 13, .unavailable), (8, 30, .unavailable), (3, 0, .unavailable), (5, 0, .busy), (5 | 2 << 8, 0, .busy),
            (6, 0, .busy), (13, 28, .full), (11, 0, .damaged), (26, 0, .damaged), (1, 0, .damaged),
            (19 | 8 << 8, 0, .damaged), (10 | 2 << 8, 0, .damaged), (10 | 33 << 8, 0, .damaged),
            (10 | 3 << 8, 5, .failed),
            (7, 0, .failed),
        ] as [(Int32, Int32, SQLiteError.Kind)])
    func kind(_ code: Int32, _ systemError: Int32, _ expected: SQLiteError.Kind) {
        #expect(SQLiteError(extendedCode: code, systemError: systemError, reason: "").kind == expected)
    }
}
