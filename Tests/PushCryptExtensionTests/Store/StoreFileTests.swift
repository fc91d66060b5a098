import Dispatch
import Foundation
import PushCryptFiles
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct StoreFileTests {
    private let folder = StoreFolder()

    @Test("a store creates its folder with mode 0700 and files with mode 0600 at its first use")
    func mode() throws {
        let store = folder.store()
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        #expect(try store.replayState() == ReplayState())
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
        expectCode(.newerVersion, of: \StoreError.code) { try store.claim("a") }
        expectCode(.newerVersion, of: \StoreError.code) { try store.statistics() }
        #expect(try Data(contentsOf: folder.file) == before)
        // The version of an open store may also change.
        try folder.script("PRAGMA application_id = 0x50430003; PRAGMA user_version = 3")
        #expect(try store.statistics().opened?.count == 15)
        try folder.script(
            "PRAGMA application_id = 0x50430004; PRAGMA user_version = 4; ALTER TABLE counter RENAME TO c")
        expectCode(.newerVersion, of: \StoreError.code) { try store.statistics() }
    }
}

/// The time limits of calls that wait for the store.
@Suite struct StoreQueueTests {
    private let folder = StoreFolder()
    private let time = Locked(ContinuousClock.now)

    private func queue(_ timeout: Duration) -> StoreQueue {
        StoreQueue(StoreFile(folder: folder.path), timeout: timeout) { [time] in time.withLock { $0 } }
    }

    private func pass(_ duration: Duration) { time.withLock { $0 += duration } }

    /// Returns how long a call may wait. The call throws an error with the code; it succeeds if the code is nil.
    private func limit(_ queue: StoreQueue, _ code: StoreError.Code? = nil) -> Duration {
        let limit = Locked(Duration.zero)
        try? queue.use { _, end throws(StoreError) in
            limit.withLock { $0 = end - .now }
            if let code { throw StoreError(code, "thrown by the test") }
        }
        return limit.withLock { $0 }
    }

    private func isLong(_ limit: Duration) -> Bool { limit > .seconds(30) }

    @Test("a call throws busy at its own time limit while another thread uses the file")
    func ownLimit() throws {
        let queue = queue(.milliseconds(20))
        let (begun, gate, ended) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        DispatchQueue(label: "first").async {
            try? queue.use { _, _ throws(StoreError) in
                begun.signal()
                gate.wait()
            }
            ended.signal()
        }
        begun.wait()
        for _ in 0..<3 { expectCode(.busy, of: \StoreError.code) { try queue.use { _, _ throws(StoreError) in } } }
        gate.signal()
        ended.wait()
        #expect(throws: Never.self) { try queue.use { _, _ throws(StoreError) in } }
    }

    @Test("after busy, calls wait at most 10 ms for 5 seconds, which later busy calls don't prolong")
    func pause() {
        let queue = queue(.seconds(60))
        #expect(isLong(limit(queue)))
        #expect(isLong(limit(queue, .busy)))
        #expect(limit(queue, .busy) <= .milliseconds(10))
        pass(.milliseconds(4_999))
        #expect(limit(queue, .busy) <= .milliseconds(10))
        pass(.milliseconds(1))
        #expect(isLong(limit(queue, .busy)))
        #expect(limit(queue, .busy) <= .milliseconds(10))
    }

    @Test("a successful call ends the pause, and a call that throws another error doesn't")
    func recovery() {
        let queue = queue(.seconds(60))
        _ = limit(queue, .busy)
        #expect(limit(queue, .full) <= .milliseconds(10))
        #expect(limit(queue) <= .milliseconds(10))
        #expect(isLong(limit(queue, .full)))
        #expect(isLong(limit(queue)))
    }

    @Test("a time limit is at most a minute and at least zero", arguments: [1, -1] as [Int64])
    func bounds(_ sign: Int64) {
        let limit = limit(queue(.seconds(sign * 10_000_000_000)))
        #expect(limit <= (sign > 0 ? .seconds(60) : .zero))
        #expect(isLong(limit) == (sign > 0))
    }
}

#if DEBUG
/// On Apple's systems the files that an extension writes while the device is locked must be readable then.
@Suite struct ProtectedFilesTests {
    private let temporary = TemporaryFolder.make()

    private func protected(_ body: () throws -> Void) rethrows -> [String] {
        let paths = Locked<[String]>([])
        let observer: @Sendable (String) -> Void = { path in paths.withLock { $0.append(path) } }
        try FileProtection.$observer.withValue(observer) { try body() }
        return paths.withLock { $0 }
    }

    @Test("the store's folder gets its protection class at the first use of each process, whether it exists or not")
    func store() throws {
        let path = temporary.path + "/store"
        for _ in 0..<2 {
            let paths = try protected { _ = try SharedStore(folder: path, role: .extension).statistics() }
            #expect(Set(paths) == [path])
        }
    }

    @Test("the folder of attachments and each file in it get their protection class before the first byte is written")
    func attachments() throws {
        let folder = AttachmentFolder(path: temporary.path + "/attachments")
        let paths = try protected { try folder.makePartFile().write([1]) }
        #expect(paths.count == 2)
        #expect(paths.first == folder.path)
        #expect(paths.last?.hasPrefix(folder.path + "/") == true)
        #expect(paths.last?.hasSuffix(".part") == true)
    }
}
#endif
