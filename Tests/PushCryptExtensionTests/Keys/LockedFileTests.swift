import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// EACCES is what data protection answers before the first unlock. Root reads everything, so as root the program of the
/// tests looks as nobody.
@Suite("key files before the first unlock", .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
struct LockedFileTests {
    @Test("an unreadable key throws keyLocked and not unknownKey") func classes() throws {
        let place = try KeyringPlace()
        let (kid, lockedKid) = (try place.register().kid, try place.identity().rotate().kid)
        try place.folder.setMode(0o000, of: place.file(lockedKid))
        try place.giveAway(kid)
        #expect(try read(place, kid) == "found")
        #expect(try read(place, lockedKid) == "keyLocked")
        #expect(try read(place, KeyID("AAAAAAAAAAA")!) == "unknownKey")
    }

    @Test("a folder that can't be entered throws locked") func folder() throws {
        let place = try KeyringPlace()
        let kid = try place.register().kid
        try place.giveAway(kid)
        try place.folder.setMode(0o000, of: KeyringPlace.name)
        #expect(try read(place, kid) == "keyLocked")
        #expect(try make(place) == "locked")
        try place.folder.setMode(0o700, of: KeyringPlace.name)
    }

    @Test("no new key is made while a key can't be read") func neverMakes() throws {
        let place = try KeyringPlace()
        let kid = try place.register().kid
        try place.giveAwayFolder()
        try place.folder.setMode(0o000, of: place.file(kid))
        let before = try place.names()
        #expect(try make(place) == "locked")
        #expect(try place.names() == before)
        // Unlocked, it is the pair that it was.
        try place.folder.setMode(0o600, of: place.file(kid))
        try place.giveAway(kid)
        #expect(try make(place) == kid.description)
        #expect(try place.names() == before)
    }

    @Test("unreadable pinned senders throw keyLocked") func pins() throws {
        let place = try KeyringPlace()
        let kid = try place.register().kid
        try place.giveAway(kid)
        #expect(try ask(["pins", place.path]) == "unknownKey")
        try SenderPins(folder: place.path).pinFirst(json: ReferenceVectors.shared.publicJWK("sender"))
        try place.folder.setMode(0o000, of: KeyringPlace.name + "/senders.json")
        #expect(try ask(["pins", place.path]) == "keyLocked")
    }

    private func read(_ place: KeyringPlace, _ kid: KeyID) throws -> String? {
        try ask(["read", place.path, kid.description])
    }

    private func make(_ place: KeyringPlace) throws -> String? { try ask(["make", place.path]) }

    private func ask(_ question: [String]) throws -> String? {
        try ExtensionCommand.output(["keyring"] + question, prefix: Unprivileged.prefix)?.first
    }
}

private enum Unprivileged {
    static let missing: Comment = "root, and nobody else can be asked to run the program (setpriv)"
    static let nobody: uid_t = 65_534
    static let prefix = geteuid() == 0 ? "setpriv --reuid=\(nobody) --regid=\(nobody) --clear-groups" : ""
    static let isAvailable =
        (try? ExtensionCommand.output(["keyring", "read", "/", "AAAAAAAAAAA"], prefix: prefix)) != nil
}

extension KeyringPlace {
    /// The file belongs to whom ``Unprivileged`` runs the program as, who can get there.
    fileprivate func giveAway(_ kid: KeyID) throws {
        guard geteuid() == 0 else { return }
        try folder.setMode(0o755, of: ".")
        try folder.setMode(0o755, of: Self.name)
        try #require(unsafe chown(folder.path + "/" + file(kid), Unprivileged.nobody, Unprivileged.nobody) == 0)
    }

    /// The folder does; not its files.
    fileprivate func giveAwayFolder() throws {
        guard geteuid() == 0 else { return }
        try folder.setMode(0o755, of: ".")
        try #require(unsafe chown(path, Unprivileged.nobody, Unprivileged.nobody) == 0)
    }
}
