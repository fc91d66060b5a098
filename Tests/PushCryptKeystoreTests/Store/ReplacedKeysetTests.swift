import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// A person is asked for the secret before the lock is taken. Meanwhile another process can replace the keyset.
@Suite("A plain keyset that replaces an encrypted one while a person is asked for the secret")
struct ReplacedKeysetTests {
    private let place: TemporaryFolder
    private let store: KeysetStore
    private let plain: [UInt8]
    private static let time = UnixTime(1_772_355_600)
    private static let actor = Actor(name: "tester", reason: "why")

    init() throws {
        place = try TemporaryFolder()
        store = KeysetStore(place.path + "/ios")
        try Self.create(store, .passphrase(ScryptParameters(n: 2, r: 1, p: 1)), Self.secret)
        let other = KeysetStore(place.path + "/other")
        try Self.create(other, .plaintext, nil)
        plain = try FileSystem.readFile(other.folder.path + "/keyset.json")
    }

    private static func create(_ store: KeysetStore, _ protection: Protection, _ secret: KeysetSecret?) throws {
        let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        try store.create(record, .standard, protection, secret, at: time, by: actor)
    }

    private static var secret: KeysetSecret {
        let bytes = Array("correct horse".utf8)
        return .passphrase(SecretBytes(copying: bytes.bytes))
    }

    private var path: String { store.folder.path + "/keyset.json" }

    /// Replaces the file and then answers.
    private var source: SecretSource {
        .asked {
            try FileSystem.replace(path, with: plain)
            return Self.secret
        }
    }

    @Test("a change refuses the plain keyset and writes nothing")
    func change() throws {
        try expectRefusal {
            try store.change(at: Self.time, by: Self.actor, source) { try $0.add(activatesAt: nil) }
        }
    }

    @Test("a due rotation refuses the plain keyset and writes nothing")
    func rotation() throws {
        let time = Self.time + 84 * 86_400
        try expectRefusal {
            try store.rotate(at: time, by: Self.actor, source) { keyset in
                RotationPlan(keyset.timeline, keyset.policy, at: time)
            }
        }
    }

    @Test("the restart of a broken audit log refuses the plain keyset and writes nothing")
    func log() throws {
        try Folder(store.folder.path).append(Array("{".utf8), to: KeysetFolder.auditName)
        try expectRefusal { try store.restartLog(at: Self.time, by: Self.actor, source) }
    }

    private func expectRefusal(_ body: () throws -> some Any) throws {
        let log = try FileSystem.readFile(store.folder.path + "/audit.jsonl")
        let error = #expect(throws: KeystoreError.self) { _ = try body() }
        #expect(error?.code == .notEncrypted)
        #expect(try FileSystem.readFile(path) == plain)
        #expect(try FileSystem.readFile(store.folder.path + "/audit.jsonl") == log)
        #expect(try place.names(in: "ios") == ["audit.jsonl", "keyset.json", "public.jwks.json"])
    }
}
