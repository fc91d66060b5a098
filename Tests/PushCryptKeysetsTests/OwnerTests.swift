import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite(
    "Files of another user",
    .enabled(if: geteuid() == 0, "only root can give files away"))
struct OwnerTests {
    private let place: TemporaryFolder
    private var path: String { place.path + "/ios" }

    init() throws {
        place = try TemporaryFolder()
        try Folder.makeIfMissing(place.path + "/ios")
        try FileSystem.replace(
            place.path + "/ios/keyset.json", with: SealedSample.keyset(.sender, .plaintext, nil).fileText())
        try FileSystem.replace(place.path + "/ios/audit.jsonl", with: [])
        try FileSystem.replace(place.path + "/pass", with: Array("secret".utf8))
    }

    private func expectRefusal(_ name: String, _ body: () throws -> Void) throws {
        try body()
        let path = place.path + "/" + name
        try #require(unsafe chown(path, 65_534, 65_534) == 0)
        let error = #expect(throws: KeystoreError.self) { try body() }
        #expect(error?.code == .foreignOwner)
        #expect(error?.reason.hasPrefix("\(path) belongs to user 65534") == true)
        #expect(error?.reason.hasSuffix(": work as that user") == true)
        try #require(unsafe chown(path, 0, 0) == 0)
        try body()
    }

    @Test(
        "a keyset whose folder or file belongs to another user is refused",
        arguments: ["ios", "ios/keyset.json"])
    func keyset(_ name: String) throws {
        try expectRefusal(name) { _ = try KeysetFolder(path).file() }
        try expectRefusal(name) { _ = try Keyset(folder: path) }
    }

    @Test("a key file of another user is refused, and a file in a folder of another user is read")
    func file() throws {
        try expectRefusal("ios/keyset.json") { _ = try Keyset(file: path + "/keyset.json") }
        try #require(unsafe chown(path, 65_534, 65_534) == 0)
        _ = try Keyset(file: path + "/keyset.json")
    }

    @Test("an audit log of another user is refused")
    func log() throws {
        try expectRefusal("ios/audit.jsonl") {
            try KeystoreError.convertingFileErrors {
                _ = try Folder(path).read(KeysetFolder.auditName, .ownerOnly)
            }
        }
    }

    @Test("a passphrase file of another user is refused, also through a link of this user")
    func passphrase() throws {
        try expectRefusal("pass") { _ = try KeysetSecret.passphraseFile(place.path + "/pass") }
        try FileManager.default.createSymbolicLink(atPath: place.path + "/link", withDestinationPath: "pass")
        try #require(unsafe chown(place.path + "/pass", 65_534, 65_534) == 0)
        let link = place.path + "/link"
        #expect(KeystoreError.Code.thrown { try KeysetSecret.passphraseFile(link) } == .foreignOwner)
    }

    @Test("demo keys and public keys in files of another user are read")
    func exempt() throws {
        let published = try SealedSample.keyset(.sender, .plaintext, nil).published()
        try FileSystem.replace(place.path + "/public.jwks.json", with: #require(published))
        try FileSystem.replace(path + "/keyset.json", with: Array(DemoKeys.senderJSON.utf8))
        for name in ["ios", "ios/keyset.json", "public.jwks.json"] {
            try #require(unsafe chown(place.path + "/" + name, 65_534, 65_534) == 0)
        }
        _ = try Keyset(folder: path, allowsDemoKeys: true)
        _ = try Keyset(file: path + "/keyset.json", allowsDemoKeys: true)
        _ = try Keyset(file: place.path + "/public.jwks.json")
    }
}
