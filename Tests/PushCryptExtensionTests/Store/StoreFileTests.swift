import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct StoreFileTests {
    private let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    @Test("creating a store creates no file before the first use")
    func lazy() throws {
        let store = folder.store()
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        #expect(try store.replayState() == ReplayState())
        #expect(FileManager.default.fileExists(atPath: folder.path))
    }

    @Test("the files of the store have mode 0600, and its folder has mode 0700")
    func mode() throws {
        try folder.fill()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["pushcrypt.sqlite", "pushcrypt.sqlite-journal"])
        for name in [""] + names {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
            #expect(mode == (name.isEmpty ? 0o700 : 0o600), "\(name)")
        }
    }

    @Test("an open store uses the folder that currently has its path")
    func exchanged() throws {
        let store = folder.store()
        #expect(try store.claim("a"))
        let other = try folder.copy()
        #expect(try folder.store().claim("b"))
        try FileManager.default.removeItem(atPath: folder.path)
        #expect(try store.claim("a"))
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.copyItem(atPath: other.path, toPath: folder.path)
        #expect(try !store.claim("a"))
        #expect(try store.claim("b"))
        #expect(try store.statistics().rebuildCount == 0)
    }

    @Test("between two calls the store has no lock, and another store doesn't wait")
    func idle() throws {
        let stores = (0..<2).map { _ in folder.store { $0.busyTimeout = .zero } }
        for number in 0..<20 { #expect(try stores[number % 2].claim("\(number)")) }
    }

    @Test("concurrent calls of one store grant each message once")
    func threads() throws {
        let (store, grantedCount) = (folder.store(), Locked(0))
        DispatchQueue.concurrentPerform(iterations: 60) { number in
            if (try? store.claim("\(number % 20)")) == true { grantedCount.withLock { $0 += 1 } }
        }
        #expect(grantedCount.withLock { $0 } == 20)
    }

    @Test("a store of a later version throws newerVersion and isn't changed")
    func newer() throws {
        try folder.fill()
        try folder.script("PRAGMA application_id = 0x50430004; PRAGMA user_version = 4")
        let before = try Data(contentsOf: folder.file)
        let store = folder.store()
        #expect(storeErrorCode { _ = try store.claim("a") } == .newerVersion)
        #expect(storeErrorCode { _ = try store.statistics() } == .newerVersion)
        #expect(try Data(contentsOf: folder.file) == before)
        // The version of an open store may also change.
        try folder.script("PRAGMA application_id = 0x50430003; PRAGMA user_version = 3")
        #expect(try store.statistics().opened?.count == 15)
        try folder.script(
            "PRAGMA application_id = 0x50430004; PRAGMA user_version = 4; ALTER TABLE counter RENAME TO c")
        #expect(storeErrorCode { _ = try store.statistics() } == .newerVersion)
    }
}
