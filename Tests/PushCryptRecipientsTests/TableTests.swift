import Foundation
import PushCryptCore
import PushCryptRecipients
import PushCryptSQLite
import PushCryptTestSupport
import Testing

/// These databases were not made by `DirectoryImport`.
@Suite("Databases of recipients") struct TableTests {
    private let place: Place

    init() throws { place = try Place("any.name") }

    private func create(_ sql: StaticString = Self.schema) throws -> Database {
        let database = try Database(path: place.path, creates: true, busyTimeout: .zero)
        try place.folder.setMode(0o600, of: place.name)
        try database.script(sql)
        return database
    }

    static let schema: StaticString = """
        CREATE TABLE recipients (kid TEXT NOT NULL, device TEXT NOT NULL DEFAULT '', record TEXT NOT NULL,
            PRIMARY KEY (kid, device)) WITHOUT ROWID
        """

    @Test("a database is detected by its first bytes, and its records are found", arguments: [false, true])
    func found(_ isBlob: Bool) throws {
        let (device, phone) = try (Device.make(psk: true), Device.make(.shared).of("phone"))
        let database = try create()
        let sql: StaticString =
            isBlob ? "INSERT INTO recipients VALUES (?, ?, CAST(? AS BLOB))" : "INSERT INTO recipients VALUES (?, ?, ?)"
        for device in [device, phone] { try insert(device, sql, database) }
        let reader = try place.reader()
        #expect(try device.opens(reader.recipient(kid: device.kid)))
        #expect(try phone.opens(reader.recipient(kid: phone.kid, device: phone.id)))
        #expect(try place.folder.names() == ["any.name"])
    }

    @Test func `a lookup sees changes that were committed after the reader was made`() throws {
        let device = try Device.make()
        let database = try create()
        let reader = try place.reader()
        #expect(try reader.recipient(kid: device.kid) == nil)
        try insert(device.line, "\(device.kid)", database)
        #expect(try device.opens(reader.recipient(kid: device.kid)))
        try database.run("DELETE FROM recipients")
        #expect(try reader.recipient(kid: device.kid) == nil)
    }

    @Test("a database without a table recipients with the key (kid, device) is refused", arguments: 0..<4)
    func otherSchema(_ number: Int) throws {
        _ = try create(
            [
                "CREATE TABLE others (kid TEXT)", "CREATE TABLE recipients (kid TEXT PRIMARY KEY, record TEXT)",
                "CREATE TABLE recipients (kid TEXT, device TEXT, record TEXT)",
                "CREATE TABLE recipients (kid TEXT, device TEXT, record TEXT, PRIMARY KEY (record, kid, device))",
            ][number])
        #expect(directoryError(place.open) == .notADirectory)
    }

    @Test func `several rows with one id are reported as a collision`() throws {
        let device = try Device.make()
        let database = try create(
            "CREATE TABLE recipients (kid TEXT, device TEXT, record TEXT); CREATE INDEX i ON recipients (kid, device)")
        try insert(device.line, "\(device.kid)", database)
        let reader = try place.reader()
        #expect(try device.opens(reader.recipient(kid: device.kid)))
        try insert(device.line, "\(device.kid)", database)
        #expect(directoryError { try reader.recipient(kid: device.kid) } == .collision)
    }

    @Test(
        "a row whose record doesn't match its key, or has the private key, is refused",
        arguments: ["", "?", "{}", "other", "device", "other key", "private key"])
    func unusable(_ record: String) throws {
        let (device, other) = try (Device.make(exposesPrivate: record == "private key"), Device.make())
        let texts = [
            "other": other.line, "device": device.adding(#""device":"phone""#), "private key": device.line,
            "other key": other.changing("kid", to: "\(device.kid)"),
        ]
        try insert(texts[record] ?? record, "\(device.kid)", create())
        let error = #expect(throws: RecipientDirectoryError.self) { try place.reader().recipient(kid: device.kid) }
        #expect(error?.code == (record == "private key" ? .privateKey : .invalidRecord), "\(error.debugDescription)")
        #expect(error?.lineNumber == nil)
        let check = try DirectoryCheck(place.open().directory)
        #expect(check.badCount == 1 && !check.isClean)
    }

    @Test("a record over the limit is refused with its key, and others are found", arguments: [false, true])
    func long(_ isBlob: Bool) throws {
        let devices = try (0..<3).map { _ in try Device.make() }
        let database = try create()
        for device in devices { try insert(device.line, "\(device.kid)", database) }
        try database.run(
            isBlob
                ? "UPDATE recipients SET record = zeroblob(2000000) WHERE kid = ?"
                : "UPDATE recipients SET record = record || printf('%70000s', ' ') WHERE kid = ?",
            .text("\(devices[1].kid)"))
        let opened = try place.open()
        let reader = try opened.makeReader()
        let error = #expect(throws: RecipientDirectoryError.self) { try reader.recipient(kid: devices[1].kid) }
        #expect(error?.code == .invalidRecord && error?.reason.contains("\(devices[1].kid) has more than") == true)
        #expect(try devices[2].opens(reader.recipient(kid: devices[2].kid)))
        let check = try DirectoryCheck(opened.directory)
        #expect(check.badCount == 1 && check.recipientCounts == [.x25519: 2], "\(check.problems)")
        #expect(directoryError(place.importLines) == .invalidRecord)
    }

    @Test("a row whose kid or device is a blob can't be found, and a check reports it", arguments: [false, true])
    func blobName(_ isDevice: Bool) throws {
        let devices = try [Device.make(), Device.make(.shared).of("phone")]
        let database = try create()
        let sql: StaticString =
            isDevice
            ? "INSERT INTO recipients VALUES (?, CAST(? AS BLOB), ?)"
            : "INSERT INTO recipients VALUES (CAST(? AS BLOB), ?, ?)"
        for device in devices { try insert(device, sql, database) }
        let opened = try place.open()
        #expect(try opened.makeReader().recipient(kid: devices[0].kid) == nil)
        let check = try DirectoryCheck(opened.directory)
        #expect(check.badCount == 2 && check.recipientCounts.isEmpty, "\(check.problems)")
        #expect(check.problems.allSatisfy { $0.reason.contains("not stored as text") })
        #expect(directoryError(place.importLines) == .invalidRecord)
    }

    /// The journal of the killed writer undoes its transaction before the first read.
    @Test func `a database whose writer was killed has its previous content`() throws {
        let devices = try (0..<2).map { _ in try Device.make() }
        let database = try create()
        try insert(devices[0].line, "\(devices[0].kid)", database)
        try database.script("PRAGMA cache_size = 1; BEGIN")
        try insert(devices[1].line, "\(devices[1].kid)", database)
        for number in 0..<200 { try insert(String(repeating: "x", count: 1_000), "\(number)", database) }
        let other = try Place("copy")
        for ending in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: place.path + ending, toPath: other.path + ending)
        }
        let reader = try other.reader()
        #expect(try devices[0].opens(reader.recipient(kid: devices[0].kid)))
        #expect(try reader.recipient(kid: devices[1].kid) == nil)
        #expect(try other.folder.names() == ["copy"])
    }

    @Test("JSON lines or an empty file are refused as no database", arguments: [0, 1])
    func noDatabase(_ count: Int) throws {
        try place.write((0..<count).map { _ in try Device.make().line })
        let error = #expect(throws: RecipientDirectoryError.self) { try place.open() }
        #expect(error?.code == .notADirectory)
        #expect(error?.reason == "\(place.path) is not a SQLite database")
    }

    @Test func `makeReader reports that another database replaced the directory`() throws {
        _ = try create()
        let opened = try place.open()
        let other = try Place([])
        _ = try other.imported()
        try #require(unsafe rename(other.databasePath, place.path) == 0)
        #expect(directoryError(opened.directory.makeReader) == .changedMeanwhile)
    }

    @Test func `a damaged database is reported as damaged`() throws {
        _ = try create()
        var bytes = try Data(contentsOf: place.folder.file(place.name))
        bytes.replaceSubrange(100..<bytes.count, with: Data(repeating: 0xa5, count: bytes.count - 100))
        try place.write(bytes)
        #expect(directoryError(place.open) == .damaged)
    }

    private func insert(_ device: Device, _ sql: StaticString, _ database: Database) throws {
        try database.run(
            sql, .text("\(device.kid)"), .text(device.id?.description ?? ""), .utf8(Array(device.line.utf8)))
    }

    private func insert(_ record: String, _ kid: String, _ database: Database) throws {
        try database.run("INSERT INTO recipients (kid, device, record) VALUES (?, '', ?)", .text(kid), .text(record))
    }
}
