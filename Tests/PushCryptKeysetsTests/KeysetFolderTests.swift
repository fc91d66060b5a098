import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptTestSupport
import Testing

@Suite("KeysetFolder")
struct KeysetFolderTests {
    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
        try FileSystem.makeFolders(path)
    }

    private var path: String { place.path + "/Keys/ios" }

    private func write(_ kind: KeyKind = .shared) throws -> KeyID {
        let record = try KeyRecord.generate(kind, psk: kind == .recipient, backend: DefaultBackend.shared)
        let time = UnixTime(1_772_355_600)
        let entry = Keyset.Entry(record, KeyLifecycle(createdAt: time, activatesAt: time))
        let metadata = KeysetMetadata(try Keyset([entry], sequence: 7, updatedAt: time))
        let stored = StoredKeyset(
            metadata: metadata, records: [record.kid: record], protection: .plaintext, secret: nil)
        try FileSystem.replace(path + "/keyset.json", with: stored.fileText())
        return record.kid
    }

    @Test("a keyset that was written to the folder is loaded", arguments: ["recipient", "shared", "sender"])
    func roundTrip(_ kind: String) throws {
        #expect(try !KeysetFolder(path).exists)
        let kid = try write(try #require(KeyKind(rawValue: kind)))
        #expect(try KeysetFolder(path).exists)
        let loaded = try KeysetFolder(path).load()
        #expect(loaded.keyIDs == [kid])
        #expect(loaded.sequence == 7)
        #expect(loaded.kind.rawValue == kind)
    }

    @Test("trailing slashes aren't part of the name", arguments: ["/", "//"])
    func slashes(_ slashes: String) throws {
        let kid = try write()
        #expect(KeysetFolder(path + slashes).path == path)
        #expect(try KeysetFolder(path + slashes).load().keyIDs == [kid])
        #expect(KeysetFolder("/").path == "/")
    }

    @Test("a link in place of keyset.json is refused")
    func link() throws {
        _ = try write()
        let other = place.path + "/other"
        try Folder.makeIfMissing(other)
        try FileManager.default.createSymbolicLink(
            atPath: other + "/keyset.json", withDestinationPath: path + "/keyset.json")
        let error = #expect(throws: KeystoreError.self) { try KeysetFolder(other).load() }
        #expect(error?.code == .notAKeyset)
        #expect(error?.reason.contains(other) == true)
    }

    @Test("a link in place of the folder is refused")
    func linkedFolder() throws {
        _ = try write()
        try FileManager.default.createSymbolicLink(atPath: place.path + "/link", withDestinationPath: path)
        let error = #expect(throws: KeystoreError.self) { try KeysetFolder(place.path + "/link").load() }
        #expect(error?.code == .notAKeyset)
    }

    @Test("a folder or file that other users can open is refused, and the error contains the command that corrects it")
    func modes() throws {
        _ = try write()
        for (name, mode, advice) in [
            ("Keys/ios", 0o755, "chmod 700 \(path)"), ("Keys/ios/keyset.json", 0o644, "chmod 600 \(path)/keyset.json"),
        ] {
            let before = try #require(try place.mode(of: name))
            try place.setMode(mode, of: name)
            let error = #expect(throws: KeystoreError.self) { try KeysetFolder(path).load() }
            #expect(error?.code == .looseMode)
            #expect(error?.reason.hasSuffix(advice) == true)
            try place.setMode(before, of: name)
        }
        #expect(try KeysetFolder(path).load().keyIDs.count == 1)
    }

    @Test("a text that isn't a keyset is malformed", arguments: ["", "{", "{}", "[]", #"{"keys":[]}"#])
    func damaged(_ text: String) throws {
        try FileSystem.replace(path + "/keyset.json", with: Array(text.utf8))
        let error = #expect(throws: KeyError.self) { try KeysetFolder(path).load() }
        #expect(error?.code == .malformed)
    }

    @Test("a folder without a keyset is reported as not found")
    func missing() throws {
        #expect(try !KeysetFolder(path).exists)
        let error = #expect(throws: KeystoreError.self) { try KeysetFolder(path).load() }
        #expect(error?.code == .notFound)
    }

    @Test("a file of more than 16 MiB is refused")
    func large() throws {
        try FileSystem.replace(path + "/keyset.json", with: [UInt8](repeating: 32, count: 16 << 20 + 1))
        let error = #expect(throws: KeystoreError.self) { try KeysetFolder(path).load() }
        #expect(error?.code == .notAKeyset)
    }
}
