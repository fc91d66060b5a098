import PushCryptPrimitives
import Testing

@testable import PushCryptCore

#if DEBUG
/// Key sets from an attacker: apps and senders read sets of others.
@Suite struct HostileSetTests {
    private static func steps(keys count: Int) throws -> Int {
        let entries = try (0..<count).map { _ in
            Keyset.Entry(
                try KeyRecord.generate(.shared, backend: DefaultBackend.shared),
                KeyLifecycle(activatesAt: UnixTime(0), retiresAt: UnixTime(1)))
        }
        let json = try Keyset(entries, sequence: 1).jwkSet(withHistory: false)
        let counter = Locked(0)
        let read = try JSONSteps.$counter.withValue(counter) { try Keyset(json: json) }
        #expect(read.keyIDs == entries.map(\.record.kid))
        return counter.withLock { $0 }
    }

    @Test("a set of twice as many keys is read in twice as many steps")
    func linear() throws {
        let counts = try [400, 800].map(Self.steps)
        #expect(Double(counts[1]) < 2.1 * Double(counts[0]), "\(counts)")
    }
}
#endif
