import PushCryptFiles
import PushCryptTestSupport
import Testing

@testable import PushCryptSQLite

@Suite struct SharedFolderTests {
    private let temporary: TemporaryFolder

    init() throws {
        temporary = try TemporaryFolder()
    }

    @Test("the folder is created for its owner only, and its parent isn't created")
    func creation() throws {
        _ = try SharedFolder(temporary.path + "/store")
        #expect(try temporary.mode(of: "store") == 0o700)
        let error = #expect(throws: SQLiteError.self) { try SharedFolder(temporary.path + "/none/store") }
        #expect(error?.kind == .unavailable)
    }

    @Test("a shared lock allows other shared locks, and an exclusive lock allows none")
    func lock() throws {
        let (first, second) = (try SharedFolder(temporary.path), try SharedFolder(temporary.path))
        let isFree = { (lock: FileLock.Kind) in
            (try? second.withLock(lock, until: .now) { true }) ?? false
        }
        first.with(.shared) { #expect(isFree(.shared) && !isFree(.exclusive)) }
        first.with(.exclusive) { #expect(!isFree(.shared) && !isFree(.exclusive)) }
        #expect(isFree(.exclusive))
    }

    @Test("a lock of the folder itself doesn't block the lock of the database")
    func openToOthers() throws {
        try temporary.setMode(0o755, of: ".")
        let other = try Folder(temporary.path)
        try other.lock(.exclusive, .none)
        #expect(try SharedFolder(temporary.path).withLock(.exclusive, until: .now) { true })
    }

    @Test("the lock is released if the body throws")
    func failure() throws {
        let (first, second) = (try SharedFolder(temporary.path), try SharedFolder(temporary.path))
        #expect(throws: SQLiteError.self) {
            try first.withLock(.exclusive, until: .now) { () throws(SQLiteError) in throw SQLiteError(.full, "") }
        }
        #expect(try second.withLock(.exclusive, until: .now) { true })
    }

    @Test("files of the folder can be created for the owner only, lengthened, measured and removed")
    func files() throws {
        let folder = try SharedFolder(temporary.path)
        #expect(!folder.has("a") && folder.byteCount(of: "a") == nil)
        try folder.create("a")
        #expect(try temporary.mode(of: "a") == 0o600)
        #expect(throws: SQLiteError.self) { try folder.create("a") }
        for count in 1...3 {
            folder.lengthen("a")
            #expect(folder.byteCount(of: "a") == count)
        }
        folder.lengthen("b")
        #expect(try temporary.mode(of: "b") == 0o600)
        folder.remove("b")
        folder.remove("b")
        #expect(try temporary.names() == ["a"])
    }
}

extension SharedFolder {
    fileprivate func with(_ lock: FileLock.Kind, _ body: () -> Void) {
        do throws(SQLiteError) {
            try withLock(lock, until: .now) { () throws(SQLiteError) in body() }
        } catch {
            Issue.record(error)
        }
    }
}
