import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptTestSupport
import Testing

@Suite("KeysetStore.create")
struct KeysetCreationTests {
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

    @Test("create makes the folder with its three files, and only public.jwks.json is readable by other users")
    func whole() throws {
        try create(path)
        #expect(try place.names(in: "Keys") == ["ios"])
        #expect(try place.names(in: "Keys/ios") == ["audit.jsonl", "keyset.json", "public.jwks.json"])
        #expect(try place.mode(of: "Keys/ios") == 0o700)
        #expect(try place.mode(of: "Keys/ios/keyset.json") == 0o600)
        #expect(try place.mode(of: "Keys/ios/audit.jsonl") == 0o600)
        #expect(try place.mode(of: "Keys/ios/public.jwks.json") == 0o644)
    }

    @Test("create refuses a taken name and changes nothing")
    func taken() throws {
        try create(path)
        let before = try KeysetFolder(path).load().keyIDs
        let error = #expect(throws: KeystoreError.self) { try create(path) }
        #expect(error?.code == .alreadyExists)
        #expect(try KeysetFolder(path).load().keyIDs == before)
        #expect(try place.names(in: "Keys") == ["ios"])
    }

    /// As when another process takes the name after `create` has checked it.
    @Test("publish refuses the name of another keyset, and the unpublished folder can be removed")
    func publish() throws {
        try create(path)
        let second = place.path + "/Keys/.new-second"
        try Folder.makeIfMissing(second)
        try FileSystem.replace(second + "/keyset.json", with: [1])
        let parent = try Folder(place.path + "/Keys")
        let error = #expect(throws: FileError.self) { try parent.publish(".new-second", as: "ios") }
        #expect(error?.code == .alreadyExists)
        parent.removeFolder(".new-second")
        #expect(try place.names(in: "Keys") == ["ios"])
        #expect(try KeysetFolder(path).load().keyIDs.count == 1)
    }

    @Test(
        "create reports that it can't make a folder in a device or in /proc",
        arguments: ["/dev/null/ios", "/proc/pushcrypt/ios"])
    func impossible(_ path: String) {
        let error = #expect(throws: KeystoreError.self) { try create(path) }
        #expect([.cannotCreate, .noPermission].contains(error?.code))
    }
}
