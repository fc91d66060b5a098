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

@Suite("an app that is killed while it rotates its keys") struct KilledKeyringTests {
    /// The kill comes at any moment after the line that was waited for.
    @Test("keeps every pair that it ever showed, and goes on") func killed() throws {
        let place = try KeyringPlace()
        var random = SplitMix64(seed: 7)
        var (kids, midway) = (Set<String>(), 0)
        for run in 1...20 {
            kids.formUnion(try rotateAndKill(place, afterLines: Int.random(in: 1...6, using: &random)))
            midway += try place.names().filter { $0.contains(".new-") }.count
            let stored = Set(try place.keyring.keyIDs().map(\.description))
            #expect(stored.isSuperset(of: kids), "run \(run)")
            #expect(stored.count - kids.count <= 1, "run \(run)")
            kids = stored
            // At the time that each was written at: the program has the real clock.
            for kid in try place.keyring.keyIDs() { _ = try place.keyring.key(kid, at: UnixTime(0)) }
        }
        try expectSettled(place)
        print("20 kills, \(midway) of them while a file was written, \(kids.count) pairs")
    }

    private func rotateAndKill(_ place: KeyringPlace, afterLines count: Int) throws -> [String] {
        let command = try ExtensionCommand(["keyring", "rotate", place.path])
        while try command.lines().count < count, try !command.hasComplained() { sched_yield() }
        command.process.kill()
        #expect(try command.process.wait() == .signal(SIGKILL))
        return try command.lines()
    }

    /// One pair is current, every other one that was confirmed before has its end, and there is nothing else.
    private func expectSettled(_ place: KeyringPlace) throws {
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
