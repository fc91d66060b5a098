import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Shared keys: the backend has a master, and each device a key that is derived from it.
@Suite("diagnose: shared keys", .ownThreads)
struct DiagnoseSharedKeyTests {
    private let place: Workplace
    private let master: Keyset
    private let now = InstalledApp.start

    init() throws {
        place = try Workplace()
        let record = try KeyRecord.generate(.shared, backend: DefaultBackend.shared)
        master = try Keyset([Keyset.Entry(record, KeyLifecycle(activatesAt: UnixTime(0)))])
        try place.write(Data(master.jwkSet(withHistory: false)), to: "master.json")
    }

    private func seal(_ keys: Keyset) throws -> Data {
        let now = now
        let sealer = try Sealer(topic: InstalledApp.topic, clock: { now })
        let push = PushNotification(title: InstalledApp.title, body: InstalledApp.body)
        return try sealer.seal(push, to: keys.recipient(at: now), placeholder: .standard).json
    }

    /// A device with the derived key.
    private func failure(_ push: Data, device: String = "phone-1") async throws -> FailureClass? {
        let keys = try master.device(DeviceID(device))
        let phone = SimulatedDevice(topic: InstalledApp.topic, clock: SimulatedClock(startingAt: now)) { _ in
            try ExtensionConfiguration(
                topic: InstalledApp.topic, keyring: KeysetKeyring(keys), senders: .unsigned,
                fallback: .bundled(.standard))
        }
        _ = try await phone.center.requestAuthorization([.alert])
        let reception = await phone.receive([UInt8](push))
        return reception.isRestored ? nil : reception.failure
    }

    private func diagnose(_ push: Data, _ arguments: String...) throws -> Diagnosed {
        try Diagnosed(place, push, ["--topic", InstalledApp.topic] + arguments, at: now)
    }

    @Test("a push to the shared key itself, where devices have derived keys")
    func bare() async throws {
        let push = try seal(master)
        #expect(try await failure(push) == .undecryptable)
        let diagnosed = try diagnose(push, "--keys", "master.json", "--device", "phone-1")
        #expect(diagnosed.errors == ["sealed-to-shared-key"], "\(diagnosed.text)")
    }

    @Test("a push to the derived key of another device")
    func other() async throws {
        let push = try seal(master.device(DeviceID("phone-2")))
        #expect(try await failure(push) == .undecryptable)
        try place.write(Data(master.device(DeviceID("phone-2")).jwkSet(withHistory: false)), to: "record.json")
        let known = try diagnose(
            push, "--keys", "master.json", "--device", "phone-1", "--registration", "record.json")
        #expect(known.errors == ["sealed-to-another-device"], "\(known.text)")
        let unknown = try diagnose(push, "--keys", "master.json", "--device", "phone-1")
        #expect(unknown.errors == ["undecryptable"], "\(unknown.text)")
        #expect(unknown.first.cause.contains("another device than phone-1"), "\(unknown.text)")
        #expect(unknown.first.advice.contains("--device"), "\(unknown.text)")
    }

    @Test("with the shared key, the device's id is requested, or taken from the record")
    func withoutDevice() throws {
        let push = try seal(master.device(DeviceID("phone-1")))
        let unknown = try diagnose(push, "--keys", "master.json")
        #expect(unknown.errors == [] && unknown.warnings == ["device-not-given"], "\(unknown.text)")
        for name in ["phone-1", "phone-2"] {
            try place.write(Data(master.device(DeviceID(name)).jwkSet(withHistory: false)), to: name + ".json")
        }
        let known = try diagnose(push, "--keys", "master.json", "--registration", "phone-1.json")
        #expect(known.found.isEmpty, "\(known.text)")
        let other = try diagnose(
            push, "--keys", "master.json", "--registration", "phone-2.json", "--device", "phone-1")
        #expect(other.errors == [] && other.warnings == ["inputs-contradict"], "\(other.text)")
    }

    @Test("a push to the derived key of this device is healthy")
    func healthy() async throws {
        let push = try seal(master.device(DeviceID("phone-1")))
        #expect(try await failure(push) == nil)
        #expect(try diagnose(push, "--keys", "master.json", "--device", "phone-1").found.isEmpty)
    }

    private func write(_ device: String, to name: String) throws -> String {
        try place.write(Data(master.device(DeviceID(device)).jwkSet(withHistory: false)), to: name)
        return name
    }

    @Test("the shared key as the record, with --device: a push to the device's derived key is healthy")
    func masterRecord() throws {
        let push = try seal(master.device(DeviceID("phone-1")))
        let diagnosed = try diagnose(push, "--registration", "master.json", "--device", "phone-1")
        #expect(diagnosed.found.isEmpty, "\(diagnosed.text)")
        let bare = try diagnose(seal(master), "--registration", "master.json", "--device", "phone-1")
        #expect(bare.errors == ["sealed-to-shared-key"], "\(bare.text)")
    }

    @Test("the shared key as the record, without a topic: only a warning about the record")
    func masterRecordAlone() throws {
        let push = try seal(master.device(DeviceID("phone-1")))
        let inputs = ["--registration", "master.json", "--device", "phone-1"]
        let diagnosed = try Diagnosed(place, push, inputs, at: now)
        #expect(diagnosed.found.map(\.name) == ["registration-without-device"], "\(diagnosed.text)")
        #expect(diagnosed.errors == [], "\(diagnosed.text)")
    }

    @Test(
        "keys of phone-1, the record of phone-2 and a push to phone-2: the inputs contradict each other, nothing else")
    func keysOfOtherDevice() throws {
        let push = try seal(master.device(DeviceID("phone-2")))
        let diagnosed = try diagnose(
            push, "--keys", write("phone-1", to: "1.json"), "--registration", write("phone-2", to: "2.json"))
        #expect(diagnosed.found.map(\.name) == ["inputs-contradict"], "\(diagnosed.text)")
        #expect(diagnosed.first.evidence.contains { $0.contains("device phone-1; registration") }, "\(diagnosed.text)")
    }

    @Test("a report has no id of a device, so it doesn't show which device's shared key it is about")
    func reportOfSharedKey() throws {
        let kid = try #require(master.keyIDs.first)
        let report: [String: Any] = [
            "version": 1, "topic": InstalledApp.topic, "time": now.seconds,
            "keys": [["kid": "\(kid)", "suite": 4, "hasPSK": false, "state": "primary"]],
        ]
        try place.write(Relay.data(report), to: "report.json")
        let record = try write("phone-2", to: "record.json")
        let push = try seal(master.device(DeviceID("phone-1")))
        let inputs = ["--registration", record, "--report", "report.json"]
        let sealedToOther = try Diagnosed(place, push, inputs, at: now)
        #expect(!sealedToOther.checked.contains("sealed to its key"), "\(sealedToOther.text)")
        #expect(!sealedToOther.checked.contains("has the record's key"), "\(sealedToOther.text)")
        let own = try Diagnosed(place, seal(master.device(DeviceID("phone-2"))), inputs, at: now)
        #expect(own.checked.contains("the push is sealed to its key"), "\(own.text)")
        #expect(!own.checked.contains("has the record's key"), "\(own.text)")
    }
}
