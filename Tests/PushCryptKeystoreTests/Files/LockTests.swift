import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite("Locks and crashes of a keystore's changes") struct LockTests {
    let place = try! Place()

    @Test func `Only reading is possible while another process has the keystore or the histories`() throws {
        let storage = place.storage(patience: .seconds(0))
        let (host, keyset) = (place.host(storage), place.keyset)
        let opened = try host.load(keyset)
        let kid = try #require(opened.state.keys.first?.kid)
        func expectBusy(_ what: String, alsoKeystore: Bool) {
            let changes: [(String, () throws -> Any)] = [
                ("create", { try host.create("\(place.root)/Keys/two", .shared) }),
                ("change", { try place.changePolicy(storage) }), ("rotate", { try host.rotate(keyset) }),
                ("revoke", { try host.revoke(keyset, kid) }), ("correct", { try host.correctClock(keyset) }),
                ("restore", { try host.restore(keyset, [opened]) { _ in true } }),
            ]
            let histories: [(String, () throws -> Any)] = [
                ("record", { try host.recordRun(of: opened.state.id, status: 0) }),
                ("receive", { try host.receive(opened.history()) { _ in true } }),
            ]
            for (name, body) in changes + (alsoKeystore ? [] : histories) {
                #expect(fileError(body) == .busy, "\(name), \(what)")
            }
            #expect(throws: Never.self, "\(what)") { try host.load(keyset) }
        }
        do {
            let keys = try Folder("\(place.root)/Keys")
            try keys.lock(.exclusive)
            defer { keys.unlock() }
            expectBusy("keystore", alsoKeystore: true)
        }
        do {
            let lock = try place.histories.lock(.forever)
            defer { lock.unlock() }
            expectBusy("histories", alsoKeystore: false)
        }
        #expect(try place.log().lines.count == 1)
        try place.changePolicy(storage)
        #expect(try place.log().lines.count == 2)
    }

    @Test func `A change releases its locks, also after an error`() throws {
        let storage = place.storage(patience: .seconds(0))
        let wrong = place.storage(patience: .seconds(0)) { "two" }
        for _ in 0..<3 {
            #expect(keysetError { try place.changePolicy(wrong) } == .wrongSecret)
            try place.changePolicy(storage)
        }
        #expect(try place.log().lines.count == 4)
    }

    @Test func `The changes of two threads are all in the log, and so they are in the history`() throws {
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            for _ in 0..<10 {
                #expect(throws: Never.self) {
                    try place.changePolicy()
                    _ = try place.host().load(place.keyset)
                }
            }
        }
        #expect(try place.log().lines.count == 21)
        #expect(try place.histories.history(of: place.log().state.id)?.log.bytes == place.log().bytes)
    }

    @Test("A file system without locks is refused with a code", arguments: [ENOLCK, ENOTSUP, EOPNOTSUPP, EBADF])
    func noLocks(_ number: Int32) {
        #expect(FileError(.lock, "Keys", systemError: number).code == .noLocks)
        #expect(FileError(.read, "Keys", systemError: number).code != .noLocks)
    }

    #if DEBUG
    @Test func `A crash at any step of a change leaves the old or the new keyset, which can be changed`() throws {
        let copies = Locked<[(String, Place)]>([])
        let old = try place.log()
        let observer = { @Sendable [place] (point: String) in
            let copy = try! place.copy("crash-\(point)")
            copies.withLock { $0.append((point, copy)) }
        }
        try FaultPoint.$observer.withValue(observer) { _ = try place.changePolicy() }
        let steps = ["created", "written", "synced", "renamed"]
        let points = copies.withLock { $0 }
        #expect(points.map(\.0) == ["locked"] + steps.map { "keyset-\($0)" } + steps.map { "history-\($0)" })
        for (point, copy) in points {
            let isMade = point == "keyset-renamed" || point.hasPrefix("history-")
            #expect(try copy.log().lines.count == (isMade ? 2 : 1), "\(point)")
            let id = old.state.id
            let seen = try copy.histories.history(of: id)
            #expect(seen?.log.lines.count == (point == "history-renamed" ? 2 : 1), "\(point)")
            // The next command that only reads writes the history.
            _ = try copy.host().load(copy.keyset)
            #expect(try copy.histories.history(of: id)?.log.bytes == copy.log().bytes, "\(point)")
            try copy.changePolicy()
            #expect(try copy.log().extends(old), "\(point)")
            #expect(try copy.names("Keys") == ["one.keyset"], "\(point)")
            #expect(try copy.names("history") == ["\(id)", "lock"].sorted(), "\(point)")
        }
    }
    #endif

    @Test func `Only temporary files of keysets are removed`() throws {
        let kept = ["one.new-abcdefghijkl", "b.keyset.new-12345.keyset", "note.new-", "a.keyset.new-abc"]
        for name in kept + ["one.keyset.new-abcdefghijkl"] {
            try FileSystem.replace("\(place.root)/Keys/\(name)", with: [1])
        }
        try place.changePolicy()
        #expect(try place.names("Keys") == (kept + ["one.keyset"]).sorted())
    }
}
