import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptTestSupport
import Testing

@Suite("KeysetStore.create")
struct CreationTests {
    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
    }

    private var path: String { place.path + "/Keys/ios" }

    private func create(_ path: String) throws {
        try KeysetStore(path).create(
            KeyRecord.generate(.recipient, backend: DefaultBackend.shared), .standard, .plaintext, nil,
            at: UnixTime(1_772_355_600), by: Actor(name: "tester", reason: nil))
    }

    @Test("makes the whole folder, each file for whom it is meant")
    func whole() throws {
        try create(path)
        #expect(try place.names(in: "Keys") == ["ios"])
        #expect(try place.names(in: "Keys/ios") == ["audit.jsonl", "keyset.json", "public.jwks.json"])
        #expect(try place.mode(of: "Keys/ios") == 0o700)
        #expect(try place.mode(of: "Keys/ios/keyset.json") == 0o600)
        #expect(try place.mode(of: "Keys/ios/audit.jsonl") == 0o600)
        #expect(try place.mode(of: "Keys/ios/public.jwks.json") == 0o644)
    }

    @Test("creating a keyset with a taken name changes nothing")
    func taken() throws {
        try create(path)
        let before = try KeysetFolder(path).load().keyIDs
        let error = #expect(throws: KeystoreError.self) { try create(path) }
        #expect(error?.code == .alreadyExists)
        #expect(try KeysetFolder(path).load().keyIDs == before)
        #expect(try place.names(in: "Keys") == ["ios"])
    }

    /// What `create` does when another process took the name after it had looked.
    @Test("a folder that is published onto another one loses and can be removed")
    func publish() throws {
        try create(path)
        let loser = place.path + "/Keys/.new-loser"
        try FileSystem.makeFolder(loser)
        try FileSystem.replace(loser + "/keyset.json", with: [1])
        let parent = try Folder(place.path + "/Keys")
        let error = #expect(throws: FileError.self) { try parent.publish(".new-loser", as: "ios") }
        #expect(error?.code == .alreadyExists)
        parent.removeFolder(".new-loser")
        #expect(try place.names(in: "Keys") == ["ios"])
        #expect(try KeysetFolder(path).load().keyIDs.count == 1)
    }

    @Test("a place where nothing can be made", arguments: ["/dev/null/ios", "/proc/pushcrypt/ios"])
    func impossible(_ path: String) {
        let error = #expect(throws: KeystoreError.self) { try create(path) }
        #expect([.cannotCreate, .noPermission].contains(error?.code))
    }
}
