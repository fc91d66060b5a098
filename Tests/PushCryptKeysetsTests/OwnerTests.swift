import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// `KeysetFileAccessTests` has the rules for a keyset's file.
@Suite("Other files of another user", .enabled(if: geteuid() == 0, "only root can give files away"))
struct OwnerTests {
    private let place: TemporaryFolder

    init() throws { place = try TemporaryFolder() }

    private func giveAway(_ name: String, to user: uid_t = 65_534) throws {
        try #require(unsafe chown(place.path + "/" + name, user, user) == 0)
    }

    @Test("a passphrase file of another user is refused, also through a link of this user")
    func passphrase() throws {
        try FileSystem.replace(place.path + "/pass", with: Array("secret".utf8))
        try FileManager.default.createSymbolicLink(atPath: place.path + "/link", withDestinationPath: "pass")
        for name in ["pass", "link"] {
            _ = try KeysetSecret.passphraseFile(place.path + "/" + name)
            try giveAway("pass")
            let error = #expect(throws: KeystoreError.self) { try KeysetSecret.passphraseFile(place.path + "/" + name) }
            #expect(error?.code == .foreignOwner)
            #expect(error?.reason.contains("belongs to user 65534") == true)
            try giveAway("pass", to: 0)
        }
    }

    @Test("a keyset in a folder of another user is read and not changed")
    func folder() throws {
        try Folder.makeIfMissing(place.path + "/Keys")
        let location = KeysetLocation(place.path + "/Keys/app")
        try KeysetFiles().write(to: location.path)
        _ = try KeysetRows(at: location, .changing)
        try giveAway("Keys")
        let error = #expect(throws: FileError.self) { try KeysetRows(at: location, .changing) }
        #expect(error?.code == .foreignOwner)
        _ = try Keyset(file: location.path)
    }

    @Test("a JWK set of another user is read if it is public, and refused with private halves or pre-shared keys")
    func sets() throws {
        let keyset = try KeysetFiles(.recipient, psk: true).keyset
        let (file, path) = (try keyset.jwkSet(withHistory: false), place.path + "/keys.json")
        let (own, psk) = (file, try keyset.publicKeyset(keepingPSK: true).jwkSet(withHistory: false))
        let others = try keyset.publicKeyset(keepingPSK: false).jwkSet(withHistory: false)
        for (text, code) in [(own, KeystoreError.Code.foreignOwner), (psk, .foreignOwner), (others, nil)] {
            try FileSystem.replace(path, with: text)
            _ = try Keyset(file: path)
            try giveAway("keys.json")
            #expect(KeystoreError.Code.thrown { try Keyset(file: path) } == code)
        }
    }
}
