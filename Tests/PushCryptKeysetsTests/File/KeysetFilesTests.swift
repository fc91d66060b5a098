import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

/// A log with one key and its record.
private func sample(
    _ id: KeysetID? = nil, _ record: KeyRecord? = nil
) throws -> (log: KeysetLog, material: KeysetMaterial) {
    let record = try record ?? KeyRecord.generate(.shared, backend: DefaultBackend.shared)
    let time = UnixTime(1_800_000_000)
    var (changes, key) = (KeysetChanges(), KeysetChanges.Key(record.kid))
    key.moments = [.createdAt: time, .activatesAt: time]
    changes.keys = [key]
    let log = try KeysetLog(creating: id ?? .random(), .shared, at: time, who: "someone", changes)
    return (log, KeysetMaterial(records: [record.kid: record], secrets: nil, historyKey: nil))
}

private func fileError(_ body: () throws -> some Any) -> FileError.Code? {
    do { _ = try body() } catch { return (error as? FileError)?.code }
    return nil
}

private func keysetError(_ body: () throws -> some Any) -> KeysetFileError? {
    do { _ = try body() } catch { return error as? KeysetFileError }
    return nil
}

@Suite("Reading a keyset's file")
struct KeysetFileAccessTests {
    let place = try! TemporaryFolder()
    private var location: KeysetLocation { KeysetLocation(place.path + "/one") }

    private func write(_ bytes: [UInt8], mode: Int = 0o600) throws {
        try FileSystem.replace(location.path, with: bytes, mode: mode)
    }

    private func write(_ record: KeyRecord? = nil, mode: Int = 0o600) throws {
        let (log, material) = try sample(nil, record)
        try write(material.file(log), mode: mode)
    }

    private func read(_ use: KeysetRows.Use, _ location: KeysetLocation? = nil) throws -> KeysetRows {
        try KeysetRows(at: location ?? self.location, use)
    }

    @Test("A private file in a private folder is read for both uses")
    func good() throws {
        try write()
        #expect(throws: Never.self) { _ = (try read(.changing), try read(.reading)) }
    }

    @Test("A file that others can open is refused, and for a change also a folder in which they can write")
    func modes() throws {
        try write(mode: 0o644)
        for use in [KeysetRows.Use.changing, .reading] { #expect(fileError { try read(use) } == .looseMode) }
        try write()
        unsafe chmod(place.path, 0o755)
        #expect(throws: Never.self) { try read(.changing) }
        unsafe chmod(place.path, 0o775)
        #expect(fileError { try read(.changing) } == .looseMode)
        #expect(throws: Never.self) { try read(.reading) }
    }

    @Test("Root's file with mode 0640 is read, and refused for a change", .enabled(if: geteuid() == 0, "needs root"))
    func rootsGroup() throws {
        try write(mode: 0o640)
        #expect(fileError { try read(.changing) } == .looseMode)
        #expect(throws: Never.self) { try read(.reading) }
        unsafe chown(location.path, 12_345, 0)
        for use in [KeysetRows.Use.changing, .reading] { #expect(fileError { try read(use) } == .foreignOwner) }
    }

    @Test("A file that holds only demo keys is read with any owner and mode, and one with another key isn't")
    func demo() throws {
        let record = try #require(DemoKeys.shared.keyset().entries.first).record
        try write(record, mode: 0o666)
        if geteuid() == 0 { unsafe chown(location.path, 12_345, 12_345) }
        #expect(try read(.reading).log.state.isDemo)
        try write(mode: 0o666)
        #expect(fileError { try read(.reading) } == .looseMode)
    }

    @Test("A link is followed to read, and refused for a change; so is the folder")
    func links() throws {
        try write()
        unsafe symlink(location.path, place.path + "/link.keyset")
        try FileSystem.makeFolders(place.path + "/real")
        try FileSystem.replace(place.path + "/real/two.keyset", with: FileSystem.readFile(location.path))
        unsafe symlink(place.path + "/real", place.path + "/folder")
        for path in ["/link", "/folder/two"] {
            let location = KeysetLocation(place.path + path)
            #expect(fileError { try read(.changing, location) } == .symbolicLink)
            #expect(throws: Never.self) { try read(.reading, location) }
        }
    }

    @Test("No file, a folder and a pipe in its place are refused, and a damaged file with its path")
    func others() throws {
        #expect(fileError { try read(.reading) } == .notFound)
        unsafe mkfifo(location.path, 0o600)
        for use in [KeysetRows.Use.changing, .reading] { #expect(fileError { try read(use) } == .notAFile) }
        try FileManager.default.removeItem(atPath: location.path)
        try write(Array("junk\n".utf8))
        #expect(keysetError { try read(.reading) } == KeysetFileError(location.path, .init(.incomplete, row: 0)))
        try write([UInt8](repeating: 10, count: KeysetLog.maximumByteCount + 1))
        #expect(keysetError { try read(.changing) }?.cause.code == .tooLarge)
    }

    @Test("The id is read from line 1 alone, and junk has none")
    func firstLine() throws {
        let (log, _) = try sample()
        func id(_ bytes: [UInt8]) throws -> KeysetID? {
            try write(bytes)
            return try KeysetID(ofFile: OpenFile(location.path))
        }
        #expect(try id(log.bytes + Array("junk".utf8)) == log.state.id)
        #expect(try id(log.bytes + [UInt8](repeating: 65, count: 100_000)) == log.state.id)
        for junk in ["", "\n", "junk", "{}\n", "{\"n\":1}\n"] { #expect(try id(Array(junk.utf8)) == nil) }
        #expect(try id(log.bytes.dropLast(3) + [10]) == nil)
    }
}

@Suite("The histories of a host")
struct HistoryFolderTests {
    let place = try! TemporaryFolder()
    private var folder: HistoryFolder { HistoryFolder(place.path + "/state/history") }

    private func path(_ id: KeysetID) -> String { "\(folder.path)/\(id)" }

    private func set(_ history: KeysetHistory) throws {
        let lock = try folder.lock(.forever)
        defer { lock.unlock() }
        try folder.setHistory(history, from: folder.history(of: history.log.state.id))
    }

    @Test("A history is read as it was written, in a private file", arguments: [nil, 0, 78, 255])
    func roundTrip(_ status: Int?) throws {
        let (log, mac) = (try sample().log, [UInt8](repeating: 7, count: 32))
        #expect(try folder.history(of: log.state.id) == nil)
        let cases: [(mac: [UInt8]?, time: UnixTime?)] = [(nil, nil), (mac, UnixTime(1_800_000_000))]
        for (mac, time) in cases {
            try set(KeysetHistory(log, mac: mac, lastRun: time, lastStatus: status))
            let read = try folder.history(of: log.state.id)
            #expect(read?.log.bytes == log.bytes)
            #expect(read?.mac == mac)
            #expect(read?.lastRun == time)
            #expect(read?.lastStatus == status)
        }
        #expect(FileStatus(folder.path)?.access.mode == 0o700)
        #expect(FileStatus(path(log.state.id))?.access.mode == 0o600)
    }

    @Test("A history that is there already isn't written, and another one is")
    func unchanged() throws {
        let log = try sample().log
        var history = KeysetHistory(log, mac: nil)
        try set(history)
        let inode = FileStatus(path(log.state.id))?.identity
        try set(history)
        #expect(FileStatus(path(log.state.id))?.identity == inode)
        history.lastStatus = 1
        try set(history)
        #expect(FileStatus(path(log.state.id))?.identity != inode)
    }

    @Test("Each damage of a history is an error with its path, and none is no history")
    func damaged() throws {
        let log = try sample().log
        let (id, rows) = (log.state.id, String(decoding: log.bytes, as: UTF8.self))
        try set(KeysetHistory(log, mac: nil))
        let damages: [(String, KeysetLogError.Code)] = [
            ("", .incomplete), ("\n", .incomplete), (rows, .incomplete), (rows + #"{"v":1}"#, .incomplete),
            (rows + "{\"v\":2}\n", .unsupportedVersion), (rows + "{}\n", .malformed), (rows + "[]\n", .malformed),
            (rows + "{\"v\":1,\"mac\":\"AAAA\"}\n", .malformed), (rows + "{\"v\":1,\"more\":1}\n", .malformed),
            (rows + "{\"v\":1,\"status\":256}\n", .malformed), (rows + "{\"v\":1,\"status\":-1}\n", .malformed),
            (rows + "{\"v\":1,\"lastRun\":1}\n", .malformed), (rows + "{\"v\": 1}\n", .malformed),
            (rows + rows + "{\"v\":1}\n", .malformed), ("junk\n{\"v\":1}\n", .malformed),
        ]
        for (text, code) in damages {
            try FileSystem.replace(path(id), with: Array(text.utf8))
            let error = keysetError { try folder.history(of: id) }
            #expect(error?.path == path(id), "\(text)")
            // The second line 1 can be refused for one of several members.
            if text != rows + rows + "{\"v\":1}\n" { #expect(error?.cause.code == code, "\(text)") }
        }
        try FileSystem.replace(path(id), with: KeysetHistory(sample().log, mac: nil).file)
        #expect(keysetError { try folder.history(of: id) }?.cause.code == .misplaced)
    }

    @Test("A history or folder that others can use, or a link, is refused")
    func access() throws {
        let log = try sample().log
        let id = log.state.id
        try set(KeysetHistory(log, mac: nil))
        for (path, good, bad) in [(path(id), 0o600, 0o640), (folder.path, 0o700, 0o750)] {
            unsafe chmod(path, mode_t(bad))
            #expect(fileError { try folder.history(of: id) } == .looseMode)
            #expect(fileError { try folder.lock(.forever) } == (path == folder.path ? .looseMode : nil))
            unsafe chmod(path, mode_t(good))
        }
        unsafe rename(path(id), place.path + "/elsewhere")
        unsafe symlink(place.path + "/elsewhere", path(id))
        #expect(fileError { try folder.history(of: id) } == .symbolicLink)
        unsafe symlink(folder.path, place.path + "/link")
        #expect(fileError { try HistoryFolder(place.path + "/link").history(of: id) } == .symbolicLink)
    }

    @Test("Readers raise a history and never lower it, keep the last run, and leave a locked one")
    func raise() throws {
        let (log, material) = try sample()
        let longer = try log.appending(.policy, at: UnixTime(1_800_000_001), who: "someone", KeysetChanges())
        func raise(_ log: KeysetLog, from seen: KeysetHistory?) throws {
            try folder.raise(to: OpenedKeyset(log, material), from: seen)
        }
        func lines() throws -> Int? { try folder.history(of: log.state.id)?.log.lines.count }
        try raise(log, from: nil)
        let first = try #require(try folder.history(of: log.state.id))
        var run = first
        run.lastStatus = 78
        try set(run)
        do {
            let lock = try folder.lock(.forever)
            defer { lock.unlock() }
            try raise(longer, from: first)
            #expect(try lines() == 1)
        }
        try raise(longer, from: first)
        #expect(try lines() == 2)
        #expect(try folder.history(of: log.state.id)?.lastStatus == 78)
        try raise(log, from: nil)
        #expect(try lines() == 2)
    }

    @Test("The lock removes what a crash left and nothing else")
    func leftovers() throws {
        let log = try sample().log
        try set(KeysetHistory(log, mac: nil))
        try FileSystem.replace(path(log.state.id) + ".new-abcdefghijkl", with: [1])
        try FileSystem.replace(folder.path + "/note", with: [1])
        folder.lockOnce()
        #expect(try FileSystem.names(in: folder.path) == ["\(log.state.id)", "lock", "note"].sorted())
    }

    @Test("The folder is the given one, else the system's if it can be written, else the user's")
    func standard() {
        func path(_ given: String?, _ variables: [String: String], _ canWrite: Bool) -> String? {
            HistoryFolder.standard(
                given: given, variable: { variables[$0] }, canWrite: { canWrite && $0 == "/var/lib/pushcrypt" })?.path
        }
        let both = ["HOME": "/home/a", "XDG_STATE_HOME": "/state"]
        #expect(path("/given", both, true) == "/given")
        #expect(path(nil, both, true) == "/var/lib/pushcrypt")
        #expect(path(nil, both, false) == "/state/pushcrypt")
        #expect(path(nil, ["HOME": "/home/a"], false) == "/home/a/.local/state/pushcrypt")
        #expect(path(nil, ["HOME": "/home/a", "XDG_STATE_HOME": "state"], false) == "/home/a/.local/state/pushcrypt")
        #expect(path(nil, [:], false) == nil)
    }
}

extension HistoryFolder {
    fileprivate func lockOnce() { try! lock(.forever).unlock() }
}
