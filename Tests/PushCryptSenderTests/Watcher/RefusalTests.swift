import Foundation
import Logging
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// A watcher rejects an invalid file, keeps the previous keyset and logs one error.
@Suite("KeysetWatcher refuses a new file") struct RefusalTests {
    @Test("a spoilt file is refused and the previous keyset stays in use", arguments: Spoiling.all)
    func keepsTheOldKeyset(spoiling: Spoiling) throws {
        let place = try Operator(under: spoiling.protection, spoiling.secret)
        try place.rotate()
        let watch = try Watch(place)
        let before = try watch.watcher.recipient().kid
        let good = try FileSystem.readFile(place.rotatedCopy() + "/keyset.json")

        try spoiling.spoil(place)
        let reason = try #require(watch.check()?.reason, "\(watch.outcomes.all)")
        #expect(reason.contains(spoiling.reason), "\(reason)")
        for _ in 0..<3 { #expect(watch.check()?.sequence == nil) }
        #expect(watch.errors.count == 1)
        let line = try #require(watch.errors.first)
        #expect(line["keyset"] == place.path)
        #expect(line["seq"] == "2")
        #expect(line["primary"] == before.description)
        #expect(line["reason"] == reason)
        #expect(try watch.watcher.recipient().kid == before)
        #expect(try Operator.open(watch.seal(), with: watch.watcher.current, at: place.clock.now) == Watch.payload)

        try spoiling.repair(place)
        try place.write(good)
        #expect(watch.check() == .taken(sequence: 3))
        #expect(try watch.watcher.recipient().kid != before)
        #expect(watch.errors.count == 1)
        #expect(watch.notices.count == 1)
    }

    @Test("each refused file is logged once") func eachBadFileHasItsLine() throws {
        let place = try Operator()
        let watch = try Watch(place)
        let good = try place.text()
        for (index, text) in ["{", "[]", "{}", #"{"keys":[]}"#].enumerated() {
            try place.write(Array(text.utf8))
            #expect(watch.check()?.reason != nil)
            #expect(watch.check() == .unchanged)
            #expect(watch.errors.count == index + 1)
        }
        // The return of the keyset in use is logged too, because the last line reported an error.
        try place.write(good)
        #expect(watch.check() == .taken(sequence: 1))
        #expect(watch.check() == .unchanged)
        #expect(watch.notices.count == 1)
    }

    /// Exchanging folders takes two renames.
    @Test("a missing file is reported at the timer's second check, not at the first")
    func aMissingFileIsReportedWhenItStaysAway() throws {
        let place = try Operator()
        let reloader = try reloader(place)
        try Replacement.rename(place.path, to: place.path + ".old")
        #expect(reloader.check(.time) == .unchanged)
        #expect(reloader.check(.time).reason?.contains("No such file") == true)
        try Replacement.rename(place.path + ".old", to: place.path)
        #expect(reloader.check(.time) == .taken(sequence: 1))
    }

    /// A key server can recover without a change of the file.
    @Test("a temporary failure is retried at the next check") func whatMayPassIsTriedAgain() throws {
        let keyServer = try KeyServer()
        let place = try Operator(.sender, under: .command, keyServer.secret)
        let reloader = try reloader(place)
        let kid = try place.rotate()
        try keyServer.stop()
        #expect(reloader.check(.request).reason?.contains("unwrap") == true)
        #expect(reloader.check(.time).reason?.contains("unwrap") == true)
        try keyServer.start()
        #expect(reloader.check(.time) == .taken(sequence: 2))
        #expect(reloader.choice.withLock { $0 }.entry.record.kid == kid)
        try keyServer.stop()
        #expect(reloader.check(.time) == .unchanged)
    }

    /// A wrong passphrase doesn't become right by itself, and trying it costs a third of a second.
    @Test("a file that stays invalid is not read again") func whatStaysWrongIsNotTriedAgain() throws {
        let place = try Operator()
        let reloader = try reloader(place)
        try place.write(Array("{".utf8))
        #expect(reloader.check(.time).reason != nil)
        #expect(reloader.check(.time) == .unchanged)
    }

    private func reloader(_ place: Operator) throws -> KeysetReloader {
        try KeysetReloader(
            WatchedKeyset(place: KeysetPlace(folder: place.path), secret: place.secret, allowsDemoKeys: false),
            clock: { place.clock.now }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
}

extension KeysetReloader.Outcome {
    var reason: String? {
        if case .refused(let reason) = self { reason } else { nil }
    }

    /// The sequence number of an accepted keyset.
    var sequence: Int64? {
        if case .taken(let sequence) = self { sequence } else { nil }
    }
}
