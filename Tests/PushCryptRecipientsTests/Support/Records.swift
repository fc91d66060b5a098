import Foundation
import PushCryptCore
import PushCryptPrimitives

/// Records to put into a directory.
struct Device: Hashable {
    let kid: KeyID
    let device: DeviceID?
    /// One line.
    let line: String

    static func == (left: Device, right: Device) -> Bool { left.line == right.line }

    func hash(into hasher: inout Hasher) { hasher.combine(line) }

    init(_ record: KeyRecord, keepingPrivate: Bool = false) throws {
        kid = record.kid
        device = if case .shared(_, let id) = record.material { id } else { nil }
        var jwk = [UInt8]()
        try (keepingPrivate ? record : record.publicRecord(keepingPSK: true)).appendJWK(to: &jwk)
        line = String(decoding: jwk, as: UTF8.self)
    }

    static func make(
        _ kind: KeyKind = .recipient, _ group: DHGroup = .x25519, psk: Bool = false, keepingPrivate: Bool = false
    ) throws -> Device {
        let record = try KeyRecord.generate(kind, group: group, psk: psk, backend: DefaultBackend.shared)
        return try Device(record, keepingPrivate: keepingPrivate)
    }

    /// One line for each suite, with and without psk, a master, and a device's key.
    static func ofEverySort() throws -> [Device] {
        let master = try KeyRecord.generate(.shared, backend: DefaultBackend.shared)
        return [
            try make(), try make(psk: true), try make(.recipient, .p256), try make(.recipient, .p256, psk: true),
            try Device(master), try Device(master.deviceRecord(DeviceID("phone-1"))),
        ]
    }

    /// The line with other text in the place of a member's value.
    func changing(_ member: String, to value: String) -> String {
        let start = line.range(of: "\"\(member)\":\"")!.upperBound
        let end = line[start...].firstIndex(of: "\"")!
        return String(line[..<start]) + value + String(line[end...])
    }
}
