import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("FileAccess")
struct FileAccessTests {
    @Test(
        "a file or folder is private if it belongs to the user or to root and its mode keeps others out",
        arguments: [
            (owner: 7, mode: 0o600, user: 7, flaw: nil), (0, 0o600, 7, nil), (0, 0o600, 0, nil),
            (8, 0o600, 7, .owner), (7, 0o600, 0, .owner), (8, 0o666, 7, .owner),
            (7, 0o640, 7, .mode), (7, 0o604, 7, .mode), (0, 0o601, 7, .mode), (0, 0o640, 7, .mode),
        ] as [(owner: UInt32, mode: UInt32, user: UInt32, flaw: AccessFlaw.Kind?)])
    func ownerOnly(_ test: (owner: UInt32, mode: UInt32, user: UInt32, flaw: AccessFlaw.Kind?)) {
        #expect(Self.flaw(.ownerOnly, test.owner, test.mode, test.user)?.kind == test.flaw)
    }

    @Test("the group may read a file of root's where the rule says so, and no other file")
    func groupOfRoot() {
        #expect(Self.flaw(.ownerOrRootsGroup, 0, 0o640, 7) == nil)
        #expect(Self.flaw(.ownerOrRootsGroup, 0, 0o440, 7) == nil)
        for mode in [0o660, 0o650, 0o644] as [UInt32] {
            #expect(Self.flaw(.ownerOrRootsGroup, 0, mode, 7)?.kind == .mode)
        }
        #expect(Self.flaw(.ownerOrRootsGroup, 7, 0o640, 7)?.kind == .mode)
        #expect(Self.flaw(.ownerOrRootsGroup, 8, 0o600, 7)?.kind == .owner)
    }

    @Test("others may read what only its owner writes, but not what another user owns")
    func readers() {
        #expect(Self.flaw(.othersMayRead, 7, 0o755, 7) == nil)
        for mode in [0o775, 0o757] as [UInt32] { #expect(Self.flaw(.othersMayRead, 7, mode, 7)?.kind == .mode) }
        #expect(Self.flaw(.othersMayRead, 8, 0o755, 7)?.kind == .owner)
    }

    @Test("the error names the path, the owner and the command that corrects it")
    func words() {
        let owner = Self.flaw(.ownerOnly, 8, 0o600, 7)?.reason
        let words = "a/b belongs to user 8, who can change it at any time; work as that user, or correct it with: "
        #expect(owner == words + "chown 7 a/b")
        let modes = [
            (FileAccess.Rule.ownerOnly, false, "reached", "chmod 600 a/b"),
            (.ownerOnly, true, "reached", "chmod 700 a/b"), (.othersMayRead, true, "changed", "chmod go-w a/b"),
        ]
        for (rule, isFolder, verb, advice) in modes {
            let reason = Self.flaw(rule, 7, 0o777, 7, isFolder: isFolder)?.reason
            #expect(reason == "a/b can be \(verb) by others than its owner; correct it with: \(advice)")
        }
    }

    private static func flaw(
        _ rule: FileAccess.Rule, _ owner: UInt32, _ mode: UInt32, _ user: UInt32, isFolder: Bool = false
    ) -> AccessFlaw? {
        do throws(AccessFlaw) {
            try FileAccess(owner: owner, mode: mode, isFolder: isFolder).check(rule, "a/b", user: user)
            return nil
        } catch {
            return error
        }
    }
}

@Suite(
    "what belongs to another user is refused, also by root",
    .enabled(if: geteuid() == 0, "only root can give files away"))
struct OwnerTests {
    private let place: TemporaryFolder
    private var path: String { place.path + "/ios" }

    init() throws {
        place = try TemporaryFolder()
        try FileSystem.makeFolder(place.path + "/ios")
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
        #expect(error?.reason.hasSuffix("chown 0 \(path)") == true)
        try #require(unsafe chown(path, 0, 0) == 0)
        try body()
    }

    @Test("a keyset's folder and its file, wherever a keyset is loaded", arguments: ["ios", "ios/keyset.json"])
    func keyset(_ name: String) throws {
        try expectRefusal(name) { _ = try KeysetFolder(path).file() }
        try expectRefusal(name) { _ = try Keyset(folder: path) }
    }

    @Test("a file of its own with keys, and its folder doesn't matter")
    func file() throws {
        try expectRefusal("ios/keyset.json") { _ = try Keyset(file: path + "/keyset.json") }
        try #require(unsafe chown(path, 65_534, 65_534) == 0)
        _ = try Keyset(file: path + "/keyset.json")
    }

    @Test("an audit log of another user is refused")
    func log() throws {
        try expectRefusal("ios/audit.jsonl") {
            _ = try Folder(path).read(KeysetFolder.auditName, isPrivate: true)
        }
    }

    @Test("a passphrase file, also behind a link of the caller's")
    func passphrase() throws {
        try expectRefusal("pass") { _ = try KeysetSecret.passphraseFile(place.path + "/pass") }
        try FileManager.default.createSymbolicLink(atPath: place.path + "/link", withDestinationPath: "pass")
        try #require(unsafe chown(place.path + "/pass", 65_534, 65_534) == 0)
        let link = place.path + "/link"
        #expect(KeystoreError.Code.thrown { try KeysetSecret.passphraseFile(link) } == .foreignOwner)
    }

    @Test("but not the published demo keys, nor a file with public keys alone")
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
