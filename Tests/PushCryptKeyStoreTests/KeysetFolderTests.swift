import Foundation
import PushCryptCore
import PushCryptKeyStore
import Testing

@Suite("KeysetFolder")
struct KeysetFolderTests {
    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
    }

    private var path: String { place.path + "/Keys/ios" }

    private static func keyset(_ kind: KeyKind = .shared) throws -> Keyset {
        let record = try KeyRecord.generate(kind, psk: kind == .recipient, backend: DefaultBackend.shared)
        let time = UnixTime(1_772_355_600)
        let lifecycle = KeyLifecycle(createdAt: time, activatesAt: time)
        return try Keyset([.init(record, lifecycle)], sequence: 7, updatedAt: time)
    }

    @Test("gives back what was created", arguments: ["recipient", "shared", "sender"])
    func roundTrip(_ kind: String) throws {
        let keyset = try Self.keyset(try #require(KeyKind(rawValue: kind)))
        #expect(!KeysetFolder(path).exists)
        try KeysetFolder(path).create(keyset)
        #expect(KeysetFolder(path).exists)
        let loaded = try KeysetFolder(path).load()
        #expect(try loaded.jwkSet(withHistory: true) == keyset.jwkSet(withHistory: true))
        #expect(loaded.sequence == 7)
        #expect(try place.names(in: "Keys") == ["ios"])
        #expect(try place.names(in: "Keys/ios") == ["keyset.json"])
    }

    @Test("trailing slashes aren't part of the name", arguments: ["/", "//"])
    func slashes(_ slashes: String) throws {
        try KeysetFolder(path + slashes).create(Self.keyset())
        #expect(KeysetFolder(path + slashes).path == path)
        #expect(try KeysetFolder(path + slashes).load().keyIDs.count == 1)
        #expect(KeysetFolder("/").path == "/")
    }

    @Test("a taken name stays as it is")
    func taken() throws {
        try KeysetFolder(path).create(Self.keyset())
        let before = try KeysetFolder(path).load().keyIDs
        let error = #expect(throws: KeyStoreError.self) { try KeysetFolder(path).create(Self.keyset()) }
        #expect(error?.code == .alreadyExists)
        #expect(try KeysetFolder(path).load().keyIDs == before)
        #expect(try place.names(in: "Keys") == ["ios"])
    }

    /// What `create` does when another process took the name after it had looked.
    @Test("a folder that is published onto another one loses and can be removed")
    func publish() throws {
        try KeysetFolder(path).create(Self.keyset())
        let loser = place.path + "/Keys/.new-loser"
        try FileSystem.makeFolder(loser)
        try FileSystem.replace(loser + "/keyset.json", with: [1])
        let error = #expect(throws: KeyStoreError.self) { try FileSystem.publishFolder(loser, as: path) }
        #expect(error?.code == .alreadyExists)
        FileSystem.removeFolder(loser, files: ["keyset.json"])
        #expect(try place.names(in: "Keys") == ["ios"])
        #expect(try KeysetFolder(path).load().keyIDs.count == 1)
    }

    @Test("a place where nothing can be made", arguments: ["/dev/null/ios", "/proc/pushcrypt/ios"])
    func impossible(_ path: String) {
        let error = #expect(throws: KeyStoreError.self) { try KeysetFolder(path).create(Self.keyset()) }
        #expect([.cannotCreate, .noPermission].contains(error?.code))
    }

    @Test("a keyset that is a link is refused")
    func link() throws {
        try KeysetFolder(path).create(Self.keyset())
        let other = place.path + "/other"
        try FileSystem.makeFolder(other)
        try FileManager.default.createSymbolicLink(
            atPath: other + "/keyset.json", withDestinationPath: path + "/keyset.json")
        let error = #expect(throws: KeyStoreError.self) { try KeysetFolder(other).load() }
        #expect(error?.code == .notAKeyset)
        #expect(error?.reason.contains(other) == true)
    }

    @Test("a folder that is a link is refused")
    func linkedFolder() throws {
        try KeysetFolder(path).create(Self.keyset())
        try FileManager.default.createSymbolicLink(atPath: place.path + "/link", withDestinationPath: path)
        let error = #expect(throws: KeyStoreError.self) { try KeysetFolder(place.path + "/link").load() }
        #expect(error?.code == .notAKeyset)
    }

    @Test("loose modes are refused, each with what mends it")
    func modes() throws {
        try KeysetFolder(path).create(Self.keyset())
        for (name, mode, advice) in [
            ("Keys/ios", 0o755, "chmod 700 \(path)"), ("Keys/ios/keyset.json", 0o644, "chmod 600 \(path)/keyset.json"),
        ] {
            let before = try #require(try place.mode(of: name))
            try place.setMode(mode, of: name)
            let error = #expect(throws: KeyStoreError.self) { try KeysetFolder(path).load() }
            #expect(error?.code == .looseMode)
            #expect(error?.reason.hasSuffix(advice) == true)
            try place.setMode(before, of: name)
        }
        #expect(try KeysetFolder(path).load().keyIDs.count == 1)
    }

    @Test("damaged JSON is malformed", arguments: ["", "{", "{}", "[]", #"{"keys":[]}"#])
    func damaged(_ text: String) throws {
        try KeysetFolder(path).create(Self.keyset())
        try FileSystem.replace(path + "/keyset.json", with: Array(text.utf8))
        let error = #expect(throws: KeyError.self) { try KeysetFolder(path).load() }
        #expect(error?.code == .malformed)
    }

    @Test("a folder without a keyset has none")
    func missing() throws {
        try FileSystem.makeFolders(path)
        #expect(!KeysetFolder(path).exists)
        let error = #expect(throws: KeyStoreError.self) { try KeysetFolder(path).load() }
        #expect(error?.code == .notFound)
    }

    @Test("a file over sixteen megabytes is refused")
    func large() throws {
        try KeysetFolder(path).create(Self.keyset())
        try FileSystem.replace(path + "/keyset.json", with: [UInt8](repeating: 32, count: 16 << 20 + 1))
        let error = #expect(throws: KeyStoreError.self) { try KeysetFolder(path).load() }
        #expect(error?.code == .notAKeyset)
    }
}
