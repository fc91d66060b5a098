import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct DeviceKeyTests {
    private static let master = TestJWK.named("shared")

    @Test("a derived device key is that of the Python reference", arguments: ["device", "other device"], Backends.all)
    func knownAnswer(name: String, backend: NamedBackend) throws {
        let expected = TestJWK.named(name)
        let derived = try Self.master.record(backend.backend).deviceRecord(DeviceID(expected.text("device")))
        #expect(try Self.secret(of: derived) == expected.bytes("k"))
        #expect(derived.kid.description == Self.master.text("kid"))
    }

    @Test("two devices of one master, and one device of two masters, have different keys")
    func everyDeviceHasItsOwn() throws {
        let ids = ["a", "b", "A", "aa", "a_", "a-", String(repeating: "a", count: 64)]
        let secrets = try ["shared", "other shared"].flatMap { name in
            let master = TestJWK.named(name)
            return try [master.bytes("k")] + ids.map { try Self.secret(of: master.record().deviceRecord(DeviceID($0))) }
        }
        #expect(Set(secrets).count == 2 * (1 + ids.count))
    }

    @Test("a device's key is returned for its device and derives no other key")
    func derivesNoFurther() throws {
        let device = TestJWK.named("device")
        let record = try device.record()
        let same = try record.deviceRecord(DeviceID(device.text("device")))
        #expect(try Self.secret(of: same) == device.bytes("k"))
        expectKeyError(.wrongDevice) { try record.deviceRecord(DeviceID("tablet-2")) }
        expectKeyError(.wrongDevice) { try device.keyset().device(DeviceID("tablet-2")) }
    }

    @Test("a key of another suite throws wrongKind for a device", arguments: ["p256", "p256 psk", "x25519", "sender"])
    func otherKindsDeriveNothing(name: String) throws {
        let jwk = TestJWK.named(name)
        expectKeyError(.wrongKind) { try jwk.record().deviceRecord(DeviceID("a")) }
        expectKeyError(.wrongKind) { try jwk.keyset().device(DeviceID("a")) }
    }

    @Test("a set of masters becomes a set of one device's keys")
    func setOfMasters() throws {
        let entries = try ["shared", "other shared"].enumerated().map { index, name in
            try Keyset.Entry(TestJWK.named(name).record(), KeyLifecycle(activatesAt: UnixTime(Int64(index))))
        }
        let keyset = try Keyset(entries, sequence: 7, updatedAt: UnixTime(3))
        let derived = try keyset.device(DeviceID("a"))
        #expect(derived.keyIDs == keyset.keyIDs)
        #expect(derived.sequence == 7)
        #expect(derived.updatedAt == UnixTime(3))
        #expect(derived.entries.map(\.lifecycle) == entries.map(\.lifecycle))
        for (entry, original) in zip(derived.entries, entries) {
            let expected = try Self.secret(of: original.record.deviceRecord(DeviceID("a")))
            #expect(try Self.secret(of: entry.record) == expected)
        }
    }

    private static func secret(of record: KeyRecord) throws -> [UInt8] {
        guard case .shared(let secret, _) = record.material else {
            throw KeyError(.wrongKind, "not a shared key")
        }
        return Array(secret.bytes)
    }
}
