import Foundation
import PushCryptExtension
import PushCryptPrimitives
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
        try place.giveAway()
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
        let publishers = try SenderSetPins.test()
        let question = ["pins", place.path, try publishers.json.text]
        #expect(try ask(question) == "unknownKey")
        let pins = try SenderPins(folder: place.path, publishers: publishers, topic: TestPush.topic)
        try pins.accept(TestSenderSet().document(), at: TestPush.now)
        try place.folder.setMode(0o000, of: TestKeyring.name + "/" + TestSenderSet.file)
        #expect(try ask(question) == "keyLocked")
    }

    private func read(_ kid: KeyID) throws -> String? { try ask(["read", place.path, kid.description]) }
    private func make() throws -> String? { try ask(["make", place.path]) }

    private func ask(_ question: [String]) throws -> String? {
        try ExtensionCommand.output(["keyring"] + question, prefix: Unprivileged.prefix)?.first
    }
}

extension TestKeyring {
    /// Gives the key's file, or the folder without its files, to the user of ``Unprivileged``, who can reach it.
    fileprivate func giveAway(_ kid: KeyID? = nil) throws {
        guard geteuid() == 0 else { return }
        try folder.setMode(0o755, of: ".")
        if kid != nil { try folder.setMode(0o755, of: Self.name) }
        let given = kid.map { folder.path + "/" + file($0) } ?? path
        try #require(unsafe chown(given, Unprivileged.userID, Unprivileged.userID) == 0)
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
        if !current.isConfirmed { try identity.confirmRegistered(current) }
        for kid in try place.keyring.keyIDs() {
            let life = try place.keyring.load(kid).lifecycle
            #expect((life.expiresAt == nil) == (kid == current.kid), "\(kid)")
        }
        _ = try identity.rotate()
        #expect(try place.names().allSatisfy { $0.hasSuffix(".jwks.json") })
    }
}

/// An app that is killed at any change to its keys and then starts again.
@Suite("an interrupted rotation") struct RotationCrashTests {
    struct Fault: Sendable, CustomStringConvertible {
        let change: Int
        let isAfter: Bool
        var description: String { "\(isAfter ? "after" : "before") change \(change)" }
    }

    private static let (now, day) = (TestKeyring.now, Int64(86_400))
    /// Faults before and after each change; the last ones are after the last change.
    private static let faults = (1...12).flatMap { change in
        [false, true].map { Fault(change: change, isAfter: $0) }
    }

    /// An app that follows the guide, and the backend with which it registers.
    private struct AppAndBackend {
        private(set) var registered: RegistrationRecord?

        /// Starts the app, which registers its pair if it isn't confirmed.
        mutating func launch(_ identity: DeviceIdentity) throws {
            let record = try identity.makeIfNeeded()
            guard !record.isConfirmed else { return }
            registered = record
            try identity.confirmRegistered(record)
        }

        /// Whether a push of the backend opens, or there is none.
        func pushesOpen(_ keyring: any RecipientKeyring, at time: UnixTime = now) throws -> Bool {
            guard let registered else { return true }
            return try TestPush.open(TestPush.sealed(to: registered), with: keyring, at: time).failure == nil
        }
    }

    @Test("after an interruption the backend's pair opens, and the next call completes the rotation", arguments: faults)
    func interrupted(_ fault: Fault) throws {
        let place = TestKeyring()
        var app = AppAndBackend()
        let failing = FailingStorage(storage: place.keyring, fault: fault)
        let wasInterrupted = try run(&app, failing)
        #expect(wasInterrupted == (fault.change <= Self.changeCount))
        #expect(try app.pushesOpen(place.keyring))
        let next = place.identity(at: Self.now + Self.day)
        try app.launch(next)
        #expect(try app.pushesOpen(place.keyring, at: Self.now + Self.day))
        let current = try #require(try next.current())
        #expect(current.isConfirmed && current.kid == app.registered?.kid)
        for kid in try place.keyring.keyIDs() where kid != current.kid {
            #expect(try place.keyring.load(kid).lifecycle.expiresAt != nil, "\(kid)")
        }
        // After the overlap only the current pair is left.
        try next.prune()
        try place.identity(at: Self.now + 32 * Self.day).prune()
        #expect(try place.keyring.keyIDs() == [current.kid])
    }

    /// The first pair is made and confirmed (2). Two rotations make and confirm a pair and retire the previous pair (6). The
    /// last rotation only makes a pair (1).
    private static let changeCount = 9

    /// - Returns: whether the storage failed.
    private func run(_ app: inout AppAndBackend, _ storage: FailingStorage) throws -> Bool {
        let identity = DeviceIdentity(storage: storage, clock: { Self.now })
        do {
            try app.launch(identity)
            for _ in 1...2 {
                _ = try identity.rotate()
                try app.launch(identity)
            }
            _ = try identity.rotate()
        } catch let error as DeviceKeyError {
            #expect(error.code == .failed)
            return true
        }
        return false
    }

    /// A storage that fails at its nth change, before or after making it, like a killed process.
    private struct FailingStorage: DeviceKeyStorage {
        let storage: any DeviceKeyStorage
        let fault: Fault
        private let changeCount = Locked(0)

        init(storage: any DeviceKeyStorage, fault: Fault) {
            (self.storage, self.fault) = (storage, fault)
        }

        func keyIDs() throws(DeviceKeyError) -> [KeyID] { try storage.keyIDs() }
        func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey { try storage.load(kid) }
        func add(_ key: DeviceKey) throws(DeviceKeyError) { try change(try storage.add(key)) }
        func remove(_ kid: KeyID) throws(DeviceKeyError) { try change(try storage.remove(kid)) }

        func make(_ suite: Suite, withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
            try change(try storage.make(suite, withPSK: withPSK, at: time))
        }

        func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) {
            try change(try storage.update(kid, to: lifecycle, at: time))
        }

        private func change<Result>(
            _ change: @autoclosure () throws(DeviceKeyError) -> Result
        ) throws(DeviceKeyError) -> Result {
            let isFault = changeCount.withLock { count in
                count += 1
                return count == fault.change
            }
            let breakdown = DeviceKeyError(.failed, "the test made the storage fail")
            if isFault, !fault.isAfter { throw breakdown }
            let result = try change()
            if isFault { throw breakdown }
            return result
        }
    }
}
