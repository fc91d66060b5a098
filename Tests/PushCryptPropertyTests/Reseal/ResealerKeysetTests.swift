import PushCryptCore
import PushCryptSender
import Testing

/// A resealer refuses keysets that it can't seal or sign with at its initialisation.
@Suite struct ResealerKeysetTests {
    private static let rotation = Rotation(device: "phone-1_A", isSigned: true)

    @Test("a resealer with an invalid topic throws at its initialisation", arguments: ["", "a b", "com.exämple.app"])
    func topic(topic: String) {
        refuse(.invalidTopic) { try Resealer(topic: topic, keyset: Self.rotation.keyset()) }
    }

    @Test("a resealer for a keyset of the wrong kind throws wrongKind", arguments: ["p256", "x25519 psk", "sender"])
    func kind(name: String) {
        refuse(.wrongKind) { try Resealer(topic: Channel.topic, keyset: TestKeys.keyset(name)) }
    }

    @Test("a resealer whose sender keyset is of the wrong kind throws wrongKind", arguments: ["p256", "shared"])
    func kindOfSender(name: String) {
        refuse(.wrongKind) {
            try Resealer(topic: Channel.topic, keyset: Self.rotation.keyset(), senders: TestKeys.keyset(name))
        }
    }

    @Test("a resealer with a public sender key throws wrongKind")
    func publicSender() {
        refuse(.wrongKind) {
            let senders = try Keyset(json: TestKeys.publicJWK("sender"))
            return try Resealer(topic: Channel.topic, keyset: Self.rotation.keyset(), senders: senders)
        }
    }

    @Test("a resealer whose keyset has no primary throws noKeySeals")
    func noPrimary() {
        let (keys, senders) = (Rotation.old, Rotation.oldSender)
        refuse(.noKeySeals) {
            let keyset = try Keyset([Self.rotation.entry(keys, Rotation.retired)])
            return try Resealer(topic: Channel.topic, keyset: keyset, clock: { Rotation.now })
        }
        refuse(.noKeySeals) {
            let retired = try Keyset([Self.rotation.entry(senders, Rotation.retired)])
            return try Resealer(
                topic: Channel.topic, keyset: Self.rotation.keyset(), senders: retired, clock: { Rotation.now })
        }
    }

    @Test(
        "a keyset with keys of several devices, or of a device and a master, throws wrongDevice",
        arguments: ["tablet-2", nil])
    func severalDevices(other: String?) {
        refuse(.wrongDevice) {
            let masters = try Self.rotation.keyset().entries
            let old = try masters[0].record.deviceRecord(DeviceID("phone-1_A"))
            let new = try other.map { try masters[1].record.deviceRecord(DeviceID($0)) } ?? masters[1].record
            let keyset = try Keyset([
                Keyset.Entry(old, Rotation.retired), Keyset.Entry(new, Rotation.primary),
            ])
            return try Resealer(topic: Channel.topic, keyset: keyset, clock: { Rotation.now })
        }
    }

    private func refuse(
        _ code: KeyError.Code, location: SourceLocation = #_sourceLocation, _ body: () throws -> Resealer
    ) {
        let error = #expect(throws: KeyError.self, sourceLocation: location) { _ = try body() }
        #expect(error?.code == code, sourceLocation: location)
    }
}
