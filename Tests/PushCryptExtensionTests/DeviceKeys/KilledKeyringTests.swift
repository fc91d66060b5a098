import Foundation
import PushCryptExtension
import PushCryptTestSupport
import Testing

@Suite("DeviceIdentity in an app that is killed") struct KilledKeyringTests {
    private static let killCount = LongTests.value(20, short: 6)

    /// The process is killed at a random time after a line of its output.
    @Test("after any kill all reported pairs are stored and the next call continues") func killed() throws {
        let place = try TestKeyring()
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
