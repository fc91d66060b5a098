import PushCryptExtension
import PushCryptPrimitives
import Testing

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
            try identity.confirmRegistered(record.kid)
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

        func make(_ suite: Suite, withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
            try change { () throws(DeviceKeyError) in try storage.make(suite, withPSK: withPSK, at: time) }
        }

        func add(_ key: DeviceKey) throws(DeviceKeyError) {
            try change { () throws(DeviceKeyError) in try storage.add(key) }
        }

        func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) {
            try change { () throws(DeviceKeyError) in try storage.update(kid, to: lifecycle, at: time) }
        }

        func remove(_ kid: KeyID) throws(DeviceKeyError) {
            try change { () throws(DeviceKeyError) in try storage.remove(kid) }
        }

        private func change<Result>(_ body: () throws(DeviceKeyError) -> Result) throws(DeviceKeyError) -> Result {
            let isFault = changeCount.withLock { count in
                count += 1
                return count == fault.change
            }
            let breakdown = DeviceKeyError(.failed, "the test made the storage fail")
            if isFault, !fault.isAfter { throw breakdown }
            let result = try body()
            if isFault { throw breakdown }
            return result
        }
    }
}
