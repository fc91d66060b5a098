import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptTestSupport
import Testing

/// A user who can open the folder of a keyset can hold its lock for ever.
@Suite("a keyset folder with mode 0755 that another process has locked") struct ForeignLockTests {
    private let place: TemporaryFolder
    private let path: String
    /// Another open file description, as of another process.
    private let lock: Folder

    init() throws {
        place = try TemporaryFolder()
        path = place.path + "/ios"
        try KeysetStore(path).create(
            KeyRecord.generate(.recipient, backend: DefaultBackend.shared), .standard, .plaintext, nil,
            at: UnixTime(1_800_000_000), by: Actor(name: "test", reason: nil))
        try place.setMode(0o755, of: "ios")
        lock = try Folder(path)
        try lock.lock(.exclusive, .none)
    }

    @Test("is refused by changes without waiting for the lock", .timeLimit(.minutes(1)))
    func change() {
        let error = #expect(throws: KeystoreError.self) {
            try KeysetStore(path).change(
                at: UnixTime(1_800_000_000), by: Actor(name: "test", reason: nil), SecretSource(nil)
            ) { try $0.add(activatesAt: nil) }
        }
        #expect(error?.code == .looseMode)
        #expect(throws: KeystoreError.self) { try KeysetStore(path).finish(.none) }
    }

    @Test("is refused by verify, and is reported by doctor, without waiting for the lock", .timeLimit(.minutes(1)))
    func look() throws {
        let error = #expect(throws: KeystoreError.self) {
            try KeysetStore(path).verify(.none, at: UnixTime(1_800_000_000))
        }
        #expect(error?.code == .looseMode)
        let findings = try KeystoreExamination(path, at: UnixTime(1_800_000_000)).findings
        #expect(findings.contains { $0.code == "loose-mode" })
    }
}
