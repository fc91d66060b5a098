import Foundation
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender

/// A key and its line in a file of JSON lines.
struct Device: Sendable {
    private let record: KeyRecord
    /// Contains the private half only if `exposesPrivate` is true.
    let line: String

    var kid: KeyID { record.kid }
    var id: DeviceID? { if case .shared(_, let id) = record.material { id } else { nil } }

    init(_ record: KeyRecord, exposesPrivate: Bool = false) throws {
        self.record = record
        var jwk = [UInt8]()
        try (exposesPrivate ? record : record.publicRecord(keepingPSK: true)).appendJWK(to: &jwk)
        line = String(decoding: jwk, as: UTF8.self)
    }

    init(line: String) throws {
        self.line = line
        record = try KeyRecord(JSONText(Array(line.utf8)).root, backend: DefaultBackend.shared)
    }

    static func make(
        _ kind: KeyKind = .recipient, _ type: KeyPairType = .x25519, psk: Bool = false, exposesPrivate: Bool = false
    ) throws -> Device {
        let record = try KeyRecord.generate(kind, type: type, psk: psk, backend: DefaultBackend.shared)
        return try Device(record, exposesPrivate: exposesPrivate)
    }

    /// The key of one of this master's devices.
    func of(_ device: String) throws -> Device { try Device(record.deviceRecord(DeviceID(device))) }

    /// Keys of suites 1 and 2, with and without psk, a master, and a device key of another master.
    static func ofEveryKind() throws -> [Device] {
        [
            try make(), try make(psk: true), try make(.recipient, .p256), try make(.recipient, .p256, psk: true),
            try make(.shared), try make(.shared).of("phone-1"),
        ]
    }

    static func ofOneMaster(_ count: Int) throws -> [Device] {
        let master = try make(.shared)
        return try (0..<count).map { try master.of("phone-\($0)") }
    }

    func changing(_ member: String, to value: String) -> String {
        let start = line.range(of: "\"\(member)\":\"")!.upperBound
        let end = line[start...].firstIndex(of: "\"")!
        return String(line[..<start]) + value + String(line[end...])
    }

    func adding(_ member: String) -> String { line.dropLast() + ",\(member)}" }

    /// Whether a push that is sealed to the recipient opens with this key.
    func opens(_ recipient: Recipient?) throws -> Bool {
        guard let recipient else { return false }
        let time = UnixTime(1_800_000_000)
        let sealer = try Sealer(topic: "com.example.app", clock: { time })
        let payload = Array(#"{"aps":{"alert":{"body":"x"}}}"#.utf8)
        let push = try sealer.seal(payload, to: recipient, placeholder: .standard)
        let own = try Keyset([.init(record, KeyLifecycle(activatesAt: UnixTime(0)))])
        let opener = try Opener(topic: "com.example.app", keyring: KeysetKeyring(own), senders: .unsigned)
        return (try? opener.open(Array(push.json), at: time).get()) != nil
    }
}
