import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptTestSupport
import Testing

@Suite("A keystore's real files") struct FileStorageTests {
    let place = try! Place()

    @Test func `A new keyset is a private file, and its history is one in a private folder`() throws {
        #expect(try place.names("Keys") == ["one.keyset"])
        #expect(FileStatus(place.file)?.access.mode == 0o600)
        let id = try place.log().state.id
        #expect(FileStatus("\(place.root)/history")?.access.mode == 0o700)
        #expect(FileStatus("\(place.root)/history/\(id)")?.access.mode == 0o600)
        #expect(try place.histories.history(of: id)?.log.bytes == place.log().bytes)
        #expect(try place.log().state.secrets.map(\.description) == ["one"])
        #expect(throws: KeystoreRefusal.exists(path: place.keyset)) { try place.host().create(place.keyset, .shared) }
    }

    @Test func `Keys in clear in the place of an encrypted keyset are refused, and its history stays`() throws {
        let opened = try place.host().load(place.keyset)
        let material = KeysetMaterial(records: opened.material.records, secrets: nil, historyKey: nil)
        // Who can write the file adds a line.
        let log = try opened.log.appending(.policy, at: Place.start, who: "another", KeysetChanges())
        try FileSystem.replace(place.file, with: material.file(log))
        let history = try place.histories.history(of: log.state.id)?.file
        let host = KeystoreHost(
            FileStorage(histories: place.histories, servedFolder: nil) { _, _ in nil }, name: "host", who: "someone",
            clock: Place.start)
        #expect(throws: KeystoreRefusal.notEncrypted(id: log.state.id)) { try host.load(place.keyset) }
        #expect(throws: KeystoreRefusal.notEncrypted(id: log.state.id)) {
            try host.change(place.keyset, .policy) { $0.changes.policy = .standard }
        }
        #expect(try place.histories.history(of: log.state.id)?.file == history)
    }

    @Test func `A restoration doesn't replace another keyset`() throws {
        let other = "\(place.root)/Keys/two"
        let second = try place.host().create(other, .shared, secrets: Place.secrets("one"))
        #expect(throws: KeystoreRefusal.exists(path: place.keyset)) {
            try place.host().restore(place.keyset, [second]) { _ in true }
        }
        #expect(try place.log().state.id != second.state.id)
    }

    @Test func `A file that others can open, an open folder and a link aren't changed, the last two are read`() throws {
        let link = "\(place.root)/Keys/link"
        unsafe symlink(place.file, link + ".keyset")
        #expect(fileError { try place.changePolicy(keyset: link) } == .symbolicLink)
        #expect(try place.host().load(link).state.id == place.log().state.id)
        for (name, mode) in [("Keys/one.keyset", 0o640), ("Keys", 0o770), ("history", 0o750)] {
            let (path, good) = ("\(place.root)/\(name)", FileStatus("\(place.root)/\(name)")?.access.mode ?? 0)
            unsafe chmod(path, mode_t(mode))
            #expect(fileError { try place.changePolicy() } == .looseMode, "\(name)")
            if geteuid() == 0, name != "history" { #expect(throws: Never.self) { try place.host().load(place.keyset) } }
            unsafe chmod(path, mode_t(good))
            guard geteuid() == 0 else { continue }
            unsafe chown(path, 12_345, 12_345)
            #expect(fileError { try place.changePolicy() } == .foreignOwner, "\(name)")
            unsafe chown(path, 0, 0)
        }
        #expect(try place.log().lines.count == 1)
    }

    @Test func `A document is written with mode 0644 if the bytes or the mode differ, and not otherwise`() throws {
        let (storage, path) = (place.storage(), "\(place.root)/www/a.json")
        try FileSystem.replace("\(path).new-abcdefghijkl", with: [1])
        try storage.serve([1, 2], as: "a.json")
        #expect(try place.names("www") == ["a.json"])
        #expect(FileStatus(path)?.access.mode == 0o644)
        let inode = place.inode(path)
        try storage.serve([1, 2], as: "a.json")
        #expect(place.inode(path) == inode)
        unsafe chmod(path, 0o600)
        try storage.serve([1, 2], as: "a.json")
        #expect(FileStatus(path)?.access.mode == 0o644)
        try storage.serve([3], as: "a.json")
        #expect(try storage.served("a.json") == [3])
        #expect(try storage.served("b.json") == nil)
    }

    @Test func `A damaged history ends every command with its path, and stays`() throws {
        let path = "\(place.root)/history/\(try place.log().state.id)"
        try FileSystem.replace(path, with: Array("junk\n".utf8))
        for body in [{ _ = try place.changePolicy() }, { _ = try place.host().load(place.keyset) }] {
            let error = #expect(throws: KeysetFileError.self) { try body() }
            #expect(error?.path == path && error?.cause.code == .incomplete)
        }
        #expect(try FileSystem.readFile(path) == Array("junk\n".utf8))
    }

    @Test func `A damaged keyset is refused, and one without the right secret isn't restored over`() throws {
        let good = try FileSystem.readFile(place.file)
        #expect(keysetError { try place.changePolicy(place.storage { "two" }) } == .wrongSecret)
        let opened = try place.host().load(place.keyset)
        let other = place.host(place.storage { "two" })
        #expect(keysetError { try other.restore(place.keyset, [opened]) { _ in true } } == .wrongSecret)
        #expect(try FileSystem.readFile(place.file) == good)
        try FileSystem.replace(place.file, with: good.dropLast(9) + Array("AAAAAA\"}\n".utf8))
        #expect(keysetError { try place.host().load(place.keyset) } == .notAuthentic)
        try place.host().restore(place.keyset, [opened]) { _ in true }
        #expect(try place.host().load(place.keyset).log.extends(opened.log))
    }

    @Test func `Of two files with one id neither is changed; rotate looks for them only if something is due`() throws {
        let copy = "\(place.root)/Keys/copy"
        try FileManager.default.copyItem(atPath: place.file, toPath: copy + ".keyset")
        for (path, remembers) in [(place.keyset, true), (copy, true), (place.keyset, false), (copy, false)] {
            let error = #expect(throws: KeystoreRefusal.self) {
                try place.changePolicy(place.storage(remembers: remembers), keyset: path)
            }
            guard case .twoFiles? = error else {
                Issue.record("\(path): \(String(describing: error))")
                continue
            }
        }
        #expect(try place.host().rotate(place.keyset).lines.count == 1)
        let later = place.host(at: Place.start + 399 * 86_400)
        #expect(throws: KeystoreRefusal.self) { try later.rotate(place.keyset) }
        #expect(try place.log().lines.count == 1)
        try place.host().restore(copy, [place.host().load(place.keyset)]) { _ in true }
        #expect(try place.names("Keys") == ["copy.keyset"])
        #expect(try place.host().load(copy).log.lines.count == 1)
    }

    @Test func `Demo keys are read with any mode, leave no history, and are never changed`() throws {
        let file = DemoKeys.shared.file
        try FileSystem.replace("\(place.root)/Keys/demo.keyset", with: file, mode: 0o666)
        let storage = FileStorage(histories: place.histories, servedFolder: nil) { _, _ in nil }
        let (host, path) = (place.host(storage), "\(place.root)/Keys/demo")
        #expect(try host.load(path).material.records.count == 1)
        #expect(try place.histories.history(of: KeysetRows(file).log.state.id) == nil)
        #expect(throws: KeystoreRefusal.demoKeys(path: path)) {
            try host.change(path, .policy) { $0.changes.policy = .standard }
        }
        #expect(try FileSystem.readFile("\(path).keyset") == file)
    }
}

@Suite("The runs of rotate") struct RotateRunTests {
    let place = try! Place()

    /// How often a body asks for the secret.
    private func uses(_ body: (FileStorage) throws -> Void) rethrows -> Int {
        let count = Counter()
        try body(place.storage { count.next() })
        return count.value
    }

    private final class Counter {
        var value = 0
        func next() -> String {
            value += 1
            return "one"
        }
    }

    private func run(_ hours: Int64, status: Int = 0) throws -> Int {
        try uses { storage in
            let host = place.host(storage, at: Place.start + hours * 3_600)
            try host.recordRun(of: host.rotate(place.keyset).state.id, status: status)
        }
    }

    @Test func `The secret is used once a day, after a failure, for new lines, and if something is due`() throws {
        // 08:00 of a day.
        for (hour, status, uses) in [(0, 0, 1), (1, 0, 0), (15, 0, 0), (16, 0, 1), (17, 69, 0), (18, 0, 1)] {
            #expect(try run(Int64(hour), status: status) == uses, "hour \(hour)")
        }
        try place.changePolicy(place.storage(remembers: false), at: Place.start + 18 * 3_600)
        #expect(try run(19) == 1)
        #expect(try run(20) == 0)
        let lines = try place.log().lines.count
        #expect(try run(24 * 29) == 1)
        #expect(try run(24 * 29 + 1) == 0)
        var due = 0
        for day in 2...12 where try place.log().lines.count == lines {
            _ = try run(24 * 29 * Int64(day))
            due = try run(24 * 29 * Int64(day) + 1)
        }
        #expect(due == 0)
        #expect(try place.log().lines.count > lines)
        let history = try place.histories.history(of: place.log().state.id)
        #expect(try history?.lastStatus == 0 && history?.log.bytes == place.log().bytes)
    }

    @Test func `A run that changes nothing doesn't write the keyset, and a command doesn't write the history`() throws {
        _ = try run(0)
        let (file, history) = (place.inode(place.file), "\(place.root)/history/\(try place.log().state.id)")
        let inode = place.inode(history)
        _ = try place.host(at: Place.start + 3_600).rotate(place.keyset)
        _ = try place.host().load(place.keyset)
        #expect(place.inode(history) == inode)
        _ = try run(2)
        #expect(place.inode(place.file) == file)
        #expect(place.inode(history) != inode)
    }

    @Test func `A run under a refused clock records its status, and its time doesn't make the clock right`() throws {
        _ = try run(0)
        let later = place.host(at: Place.start + 365 * 86_400)
        for _ in 0..<2 {
            #expect(throws: KeystoreRefusal.clockAhead(last: Place.start)) { try later.rotate(place.keyset) }
            try later.recordRun(of: place.log().state.id, status: 78)
            let history = try place.histories.history(of: place.log().state.id)
            #expect(history?.lastRun == Place.start && history?.lastStatus == 78)
        }
    }

    @Test func `Publisher keys are never rotated`() throws {
        let path = "\(place.root)/Keys/app"
        _ = try place.host().create(path, .publisher, secrets: Place.secrets("one"))
        for days in stride(from: Int64(25), to: 500, by: 25) {
            let host = place.host(at: Place.start + days * 86_400)
            let log = try host.rotate(path)
            try host.recordRun(of: log.state.id, status: 0)
            #expect(log.lines.count == 1)
        }
    }
}
