import PushCryptCore
import PushCryptExtension
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

    @Test("after an interruption the backend's pair opens, and the next call completes the rotation", arguments: faults)
    func interrupted(_ fault: Fault) throws {
        let (place, app) = (try TestKeyring(), AppAndBackend())
        let failing = FailingStorage(place.keyring, atChange: fault.change, isAfter: fault.isAfter)
        let wasInterrupted = try run(app, failing)
        #expect(wasInterrupted == (fault.change <= Self.changeCount))
        try app.expectPushesOpen(place.keyring)
        let next = place.identity(at: Self.now + Self.day)
        try app.launch(next)
        try app.expectPushesOpen(place.keyring, at: Self.now + Self.day)
        let current = try #require(try next.current())
        #expect(current.isConfirmed && current.kid == app.registered?.kid)
        for kid in try place.keyring.keyIDs() where kid != current.kid {
            #expect(try place.keyring.load(kid).lifecycle.expiresAt != nil, "\(kid)")
        }
        // After the overlap only the current pair is left.
        try next.prune()
        let end = Self.now + 32 * Self.day
        try place.identity(at: end).prune()
        #expect(try place.keyring.keyIDs() == [current.kid])
    }

    /// The first pair is made and confirmed (2). Two rotations make and confirm a pair and retire the previous pair (6). The
    /// last rotation only makes a pair (1).
    private static let changeCount = 9

    /// - Returns: whether the storage failed.
    private func run(_ app: AppAndBackend, _ storage: FailingStorage) throws -> Bool {
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
}
