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
    @Test(
        "a file that may not replace the keyset is refused once, and the previous keys stay in use",
        arguments: Spoiling.all)
    func keepsTheOldKeyset(spoiling: Spoiling) throws {
        let place = try Operator(.recipient, spoiling.secret, psk: true)
        let before = try place.rotate()
        let watch = try Watch(place)

        try spoiling.spoil(place)
        let reason = try #require(watch.tick()?.reason, "\(watch.outcomes.all)")
        #expect(reason.contains(spoiling.reason), "\(reason)")
        // A key may begin to seal later.
        #expect(watch.tick() == .unchanged || spoiling.reason.contains("keys seals"))
        #expect(watch.check()?.sequence == nil)
        let line = ["keyset": place.path, "seq": "2", "primary": before.description, "reason": reason]
        #expect(watch.errors == [line])
        #expect(watch.watcher.status.refusal?.contains(spoiling.reason) == true)
        #expect(try place.open(watch.seal()) == Watch.payload)

        try spoiling.repair(place)
        let after = try place.rotate()
        #expect(watch.tick() == .taken(sequence: 3))
        #expect(try watch.watcher.recipient().kid == after)
        #expect(watch.errors.count == 1)
        #expect(watch.notices.count == 1)
    }

    @Test("each refused file is logged once") func eachBadFileHasItsLine() throws {
        let place = try Operator()
        let watch = try Watch(place)
        for (index, text) in ["{", "[]", "{}", #"{"keys":[]}"#].enumerated() {
            try place.write(Array(text.utf8))
            #expect(watch.check()?.reason != nil)
            #expect(watch.check() == .unchanged)
            #expect(watch.errors.count == index + 1)
        }
        // The return of the keyset in use is logged too, because the last line reported an error.
        try place.write(place.files.file)
        #expect(watch.check() == .taken(sequence: 1))
        #expect(watch.check() == .unchanged)
        #expect(watch.notices.count == 1)
    }

    /// A key server can recover without a change of the file.
    @Test("a temporary failure is retried at the next check") func whatMayPassIsTriedAgain() throws {
        let keyServer = try KeyServer()
        let place = try Operator(.sender, keyServer.secret)
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

    @Test("a watcher with a history remembers what it takes, and refuses what is older than its host has seen")
    func history() throws {
        let place = try Operator(.sender, .test("right"))
        let seen = HistoryFolder(place.folder.path + "/seen")
        let watch = try Watch(KeysetPlace(file: place.path, history: seen), place.secret, clock: place.clock)
        func line() throws -> Int64? { try seen.history(of: place.files.id)?.log.state.head.number }
        #expect(try line() == 1)
        try place.rotate()
        #expect(watch.tick() == .taken(sequence: 2))
        #expect(try line() == 2)
        // Another process of the host has seen line 4.
        let third = try place.files.rotated()
        let fourth = try third.rotated()
        try seen.setHistory(fourth.opened.history(), from: nil)
        try place.change { _ in third }
        #expect(watch.tick()?.reason?.contains("line 4") == true)
        let error = #expect(throws: KeystoreError.self) {
            try KeysetWatcher(file: place.path, history: seen.path, secret: place.secret)
        }
        #expect(error?.code == .olderThanHistory)
        try place.change { _ in fourth }
        #expect(watch.tick() == .taken(sequence: 4))
    }

    @Test("a watcher of one id refuses another keyset at its start and later")
    func otherID() throws {
        let (place, other) = (try Operator(.sender), try Operator(.sender))
        func watcher(_ id: KeysetID) throws -> KeysetWatcher {
            try KeysetWatcher(file: place.path, id: id.description, clock: { Operator.start })
        }
        expectKeystoreError(.otherKeyset) { try watcher(other.files.id) }
        let own = try watcher(place.files.id)
        try place.write(other.files.file)
        own.checkNow()
        #expect(own.status.refusal?.contains("\(place.files.id) is expected") == true)
        #expect(try own.senderKey().kid == place.files.kids[0])
    }

    private func reloader(_ place: Operator) throws -> KeysetReloader {
        try KeysetReloader(
            WatchedKeyset(place: KeysetPlace(file: place.path), secret: place.secret, allowsDemoKeys: false),
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

/// A command that wraps data keys while it is up: it turns the highest bit of each byte.
private struct KeyServer {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try start()
    }

    /// The verb that is appended lands in the script's arguments.
    var secret: KeysetSecret {
        .command(#"test -e '\#(folder.path)/up' || exit 1; LC_ALL=C tr '\000-\377' '\200-\377\000-\177'; :"#)
    }

    func start() throws { try FileSystem.replace(folder.path + "/up", with: []) }

    func stop() throws { try Folder(folder.path).remove("up") }
}
