import Foundation
import PushCryptExtension
import PushCryptTestSupport
import Testing

/// Before the first unlock, data protection makes reading fail like a missing permission. The tests' executable runs
/// without root's permissions.
@Suite("key files before the first unlock", .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
struct LockedFileTests {
    private let place = TestKeyring()

    @Test("an unreadable key throws keyLocked and not unknownKey") func classes() throws {
        let (kid, lockedKid) = (try place.register().kid, try place.identity().rotate().kid)
        try place.folder.setMode(0o000, of: place.file(lockedKid))
        try place.giveAway(kid)
        #expect(try read(kid) == "found")
        #expect(try read(lockedKid) == "keyLocked")
        #expect(try read(KeyID("AAAAAAAAAAA")!) == "unknownKey")
    }

    @Test("a folder that can't be entered throws locked") func folder() throws {
        let kid = try place.register().kid
        try place.giveAway(kid)
        try place.folder.setMode(0o000, of: TestKeyring.name)
        #expect(try read(kid) == "keyLocked")
        #expect(try make() == "locked")
        try place.folder.setMode(0o700, of: TestKeyring.name)
    }

    @Test("no new key is made while a key can't be read") func neverMakes() throws {
        let kid = try place.register().kid
        try place.giveAwayFolder()
        try place.folder.setMode(0o000, of: place.file(kid))
        let before = try place.names()
        #expect(try make() == "locked")
        #expect(try place.names() == before)
        // After the unlock the same pair is returned.
        try place.folder.setMode(0o600, of: place.file(kid))
        try place.giveAway(kid)
        #expect(try make() == kid.description)
        #expect(try place.names() == before)
    }

    @Test("unreadable pinned senders throw keyLocked") func pins() throws {
        let kid = try place.register().kid
        try place.giveAway(kid)
        #expect(try ask(["pins", place.path]) == "unknownKey")
        try UnsignedSenderPins(folder: place.path).pinFirst(json: ReferenceVectors.shared.publicJWK("sender"))
        try place.folder.setMode(0o000, of: TestKeyring.name + "/senders.json")
        #expect(try ask(["pins", place.path]) == "keyLocked")
    }

    private func read(_ kid: KeyID) throws -> String? { try ask(["read", place.path, kid.description]) }
    private func make() throws -> String? { try ask(["make", place.path]) }

    private func ask(_ question: [String]) throws -> String? {
        try ExtensionCommand.output(["keyring"] + question, prefix: Unprivileged.prefix)?.first
    }
}

extension TestKeyring {
    /// Gives the file to the user of ``Unprivileged``, who can reach it.
    fileprivate func giveAway(_ kid: KeyID) throws {
        guard geteuid() == 0 else { return }
        try folder.setMode(0o755, of: ".")
        try folder.setMode(0o755, of: Self.name)
        try #require(unsafe chown(folder.path + "/" + file(kid), Unprivileged.userID, Unprivileged.userID) == 0)
    }

    /// Gives the folder, without its files, to the user of ``Unprivileged``.
    fileprivate func giveAwayFolder() throws {
        guard geteuid() == 0 else { return }
        try folder.setMode(0o755, of: ".")
        try #require(unsafe chown(path, Unprivileged.userID, Unprivileged.userID) == 0)
    }
}

@Suite("DeviceIdentity in an app that is killed") struct KilledKeyringTests {
    private static let killCount = LongTests.value(20, short: 6)

    /// The process is killed at a random time after a line of its output.
    @Test("after any kill all reported pairs are stored and the next call continues") func killed() throws {
        let place = TestKeyring()
        var random = SplitMix64(seed: 7)
        var kids = Set<String>()
        var midway = 0
        for run in 1...Self.killCount {
            kids.formUnion(try rotateAndKill(place, afterLines: Int.random(in: 1...6, using: &random)))
            midway += try place.names().filter { $0.contains(".new-") }.count
            let stored = Set(try place.keyring.keyIDs().map(\.description))
            #expect(stored.isSuperset(of: kids), "run \(run)")
            #expect(stored.count - kids.count <= 1, "run \(run)")
            kids = stored
            // At time 0 every key is read at the time of its last write: the process uses the real clock.
            for kid in try place.keyring.keyIDs() { _ = try place.keyring.key(kid, at: UnixTime(0)) }
        }
        try expectSettled(place)
        print("\(Self.killCount) kills, \(midway) of them while a file was written, \(kids.count) pairs")
    }

    private func rotateAndKill(_ place: TestKeyring, afterLines count: Int) throws -> [String] {
        let command = try ExtensionCommand(["keyring", "rotate", place.path])
        while try command.lines().count < count, try !command.hasComplained() { sched_yield() }
        command.process.kill()
        #expect(try command.process.wait() == .signal(SIGKILL))
        return try command.lines()
    }

    /// Expects one current pair, an expiry for every other pair, and no other file.
    private func expectSettled(_ place: TestKeyring) throws {
        let identity = place.identity()
        let current = try #require(try identity.current())
        if !current.isConfirmed { try identity.confirmRegistered(current.kid) }
        for kid in try place.keyring.keyIDs() {
            let life = try place.keyring.load(kid).lifecycle
            #expect((life.expiresAt == nil) == (kid == current.kid), "\(kid)")
        }
        _ = try identity.rotate()
        #expect(try place.names().allSatisfy { $0.hasSuffix(".jwks.json") })
    }
}
