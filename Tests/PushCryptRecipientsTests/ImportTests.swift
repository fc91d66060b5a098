import Foundation
import PushCryptCore
import PushCryptRecipients
import PushCryptSQLite
import PushCryptTestSupport
import Testing

@Suite("DirectoryImport") struct ImportTests {
    private let devices: [Device]
    private let place: Place
    private let target: Place

    init() throws {
        devices = try Device.ofEveryKind()
        place = try Place(devices.map(\.line))
        target = try Place("devices.sqlite")
    }

    private func run() throws -> DirectoryImport { try DirectoryImport(from: place.path, into: target.path) }

    @Test func `an import copies every record, and repeating it changes nothing`() throws {
        let first = try run()
        #expect(first.addedCount == devices.count && first.unchangedCount == 0)
        #expect(try target.folder.names() == ["devices.sqlite"])
        #expect(try target.folder.mode(of: "devices.sqlite") == 0o600)
        let bytes = try Data(contentsOf: target.folder.file(target.name))
        let second = try run()
        #expect(second.addedCount == 0 && second.unchangedCount == devices.count)
        #expect(try Data(contentsOf: target.folder.file(target.name)) == bytes)
        let records = try Database(path: target.path, busyTimeout: .zero)
            .rows("SELECT record FROM recipients") { $0.text(0) ?? "" }
        #expect(Set(records) == Set(devices.map(\.line)))
    }

    @Test func `an import adds the records that are new`() throws {
        _ = try run()
        let device = try Device.make()
        try place.append(device.line + "\n" + devices[0].line + "\n")
        let result = try run()
        #expect(result.addedCount == 1 && result.unchangedCount == devices.count)
        #expect(try device.opens(target.reader().recipient(kid: device.kid)))
    }

    @Test("an import with one invalid record imports nothing", arguments: Flaw.allCases, [false, true])
    func allOrNothing(_ flaw: Flaw, _ isThere: Bool) throws {
        if isThere { _ = try run() }
        let before = try? Data(contentsOf: target.folder.file(target.name))
        try place.append("\(try Device.make().line)\n\(try flaw.line(devices))\n\(try Device.make().line)\n")
        let error = #expect(throws: RecipientDirectoryError.self) { try run() }
        #expect(error?.code == flaw.code, "\(error.debugDescription)")
        #expect((try? Data(contentsOf: target.folder.file(target.name))) == before)
        #expect(try target.folder.names() == (isThere ? ["devices.sqlite"] : []))
    }

    @Test func `an import never replaces a different record`() throws {
        let phone = try Device.make(.shared).of("phone")
        try place.write([phone.line])
        _ = try run()
        let other = try Device.make(.shared).of("phone")
        try place.write([try Device.make().line, other.changing("kid", to: "\(phone.kid)")])
        let error = #expect(throws: RecipientDirectoryError.self) { try run() }
        #expect(error?.code == .collision && error?.lineNumber == 2)
        #expect(try phone.opens(target.reader().recipient(kid: phone.kid, device: phone.id)))
        #expect(try DirectoryCheck(target.open().directory).recipientCounts == [.shared: 1])
    }

    @Test("an import into another file is refused and leaves it", arguments: ["text", "schema", "mode", "folder"])
    func otherTarget(_ what: String) throws {
        switch what {
        case "text": try target.write(Data("my text\n".utf8))
        case "folder":
            try FileManager.default.createDirectory(atPath: target.path, withIntermediateDirectories: false)
        default:
            _ = try run()
            if what == "mode" { try target.folder.setMode(0o644, of: target.name) }
            let database = try Database(path: target.path, busyTimeout: .zero)
            if what == "schema" { try database.script("DROP TABLE recipients; CREATE TABLE recipients (x)") }
        }
        let before = try? Data(contentsOf: target.folder.file(target.name))
        let error = #expect(throws: RecipientDirectoryError.self) { try run() }
        #expect(error?.code == (what == "mode" ? .looseMode : .notADirectory), "\(error.debugDescription)")
        #expect((try? Data(contentsOf: target.folder.file(target.name))) == before)
    }

    @Test func `an import reports the number of records, also if none is new`() throws {
        try place.write(Device.ofOneMaster(2_100).map(\.line))
        for added in [2_100, 0] {
            nonisolated(unsafe) var seen: [DirectoryProgress] = []
            let result = try DirectoryImport(from: place.path, into: target.path) { unsafe seen.append($0) }
            #expect(result.addedCount == added)
            let visiting = unsafe seen.filter { $0.phase == .visiting }
            #expect(visiting.map(\.done) == [1_024, 2_048] && visiting.allSatisfy { $0.total == 2_100 })
        }
    }

    @Test func `an import of several MiB reports increasing numbers of bytes`() throws {
        try place.write(Device.ofOneMaster(12_000).map(\.line))
        nonisolated(unsafe) var seen: [DirectoryProgress] = []
        _ = try DirectoryImport(from: place.path, into: target.path) { unsafe seen.append($0) }
        let reading = unsafe seen.filter { $0.phase == .reading }
        #expect(reading.map(\.done) == reading.map(\.done).sorted())
        #expect(!reading.isEmpty && reading.allSatisfy { $0.done <= $0.total ?? 0 })
    }

    @Test func `an import removes the files of a killed import and leaves only the database`() throws {
        for name in ["devices.sqlite.new", "devices.sqlite.new-journal", "devices.sqlite.lock"] {
            try Data("half".utf8).write(to: target.folder.file(name))
        }
        #expect(try run().addedCount == devices.count)
        #expect(try target.folder.names() == ["devices.sqlite"])
    }

    @Test func `concurrent imports make one complete database`() async throws {
        let (place, target) = (place, target)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        _ = try DirectoryImport(from: place.path, into: target.path)
                    } catch let error as RecipientDirectoryError {
                        #expect(error.code == .cannotCreate, "\(error)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try target.folder.names() == ["devices.sqlite"])
        #expect(try DirectoryCheck(target.open().directory).recipientCounts.values.reduce(0, +) == devices.count)
    }

    @Test func `an import doesn't wait for another process's lock on the folder`() throws {
        let folder = unsafe Foundation.open(target.folder.path, O_RDONLY | O_DIRECTORY)
        try #require(folder >= 0 && flock(folder, LOCK_EX) == 0)
        defer { close(folder) }
        #expect(try run().addedCount == devices.count)
        #expect(try DirectoryCheck(target.open().directory).isClean)
    }

    @Test func `an import copies one database into another`() throws {
        _ = try run()
        let other = target.folder.file("other.sqlite").path
        #expect(try DirectoryImport(from: target.path, into: other).addedCount == devices.count)
        #expect(try DirectoryCheck(RecipientDirectory(path: other)).isClean)
    }
}

enum Flaw: String, CaseIterable, CustomTestStringConvertible {
    case noRecord, privateKey, otherKey, collision

    var testDescription: String { rawValue }

    var code: RecipientDirectoryError.Code {
        switch self {
        case .noRecord, .otherKey: .invalidRecord
        case .privateKey: .privateKey
        case .collision: .collision
        }
    }

    func line(_ devices: [Device]) throws -> String {
        switch self {
        case .noRecord: "{}"
        case .privateKey: try Device.make(exposesPrivate: true).line
        case .otherKey: try Device.make().changing("x", to: "AAAA")
        case .collision: try Device.make(.shared).of("phone-1").changing("kid", to: "\(devices[5].kid)")
        }
    }
}
