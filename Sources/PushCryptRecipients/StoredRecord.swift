package import PushCryptCore
import PushCryptPrimitives

/// The name of a record: the key's id and, for a device key derived from a shared master, the device's id.
package struct RecordName: Hashable, Sendable, CustomStringConvertible {
    package let kid: KeyID
    package let device: DeviceID?

    init(_ kid: KeyID, _ device: DeviceID?) {
        self.kid = kid
        self.device = device
    }

    package init(_ record: JSONValue) throws(RecordFlaw) {
        guard record.kind == .object else { throw RecordFlaw(reason: "not a JSON object") }
        guard let kid = record["kid"]?.utf8.flatMap(KeyID.init(utf8:)) else {
            throw RecordFlaw(reason: "no kid of \(KeyID.characterCount) characters of base64url")
        }
        guard let member = record["device"] else {
            self.init(kid, nil)
            return
        }
        guard let device = member.string.flatMap({ try? DeviceID($0) }) else {
            throw RecordFlaw(reason: "device is not a device id")
        }
        self.init(kid, device)
    }

    /// Reads the name of a row of the table; nil for an invalid kid or device.
    package init?(kid: String, device: String) {
        guard let kid = KeyID(kid), device.isEmpty || (try? DeviceID(device)) != nil else { return nil }
        self.init(kid, try? DeviceID(device))
    }

    /// The value of the table's column `device`; empty if there is no device.
    var deviceText: String { device?.description ?? "" }
    package var description: String { device.map { "\(kid) of device \($0)" } ?? "\(kid)" }
}

/// Why a record can't be used, or a JSON text has no name. The reason contains no key bytes and no part of the text.
package struct RecordFlaw: Error {
    package let reason: String
    package var isPrivateKey = false
    /// Whether this host lacks the key's suite, so that another host can use the record.
    package var isUnsupported = false
}

/// A record of a directory, or why no message can be sealed to it.
package struct StoredRecord {
    let name: RecordName
    package let result: Result<KeyRecord, RecordFlaw>

    /// - Parameter text: the caller wipes it.
    /// - Returns: nil if the text isn't a record with that name.
    package init?(_ text: [UInt8], named name: RecordName) {
        guard let root = try? JSONText(text).root, let found = try? RecordName(root), found == name else { return nil }
        self.name = name
        result = Result { try KeyRecord(root, backend: DefaultBackend.shared) }.mapError { error in
            RecordFlaw(
                reason: (error as? KeyError)?.reason ?? "key \(name.kid): \(error)",
                isUnsupported: (error as? KeyError)?.code == .unsupportedSuite)
        }.flatMap { record in
            Result { () throws(KeyError) in try record.recipient() }.map { _ in record }.mapError { error in
                RecordFlaw(reason: error.reason, isPrivateKey: record.isPrivateAsymmetric)
            }
        }
    }
}

extension KeyRecord {
    /// Whether both have the same key and the same psk.
    package func isSameRecipient(as other: KeyRecord) -> Bool {
        guard let own = try? thumbprint(), let others = try? other.thumbprint(), own == others else { return false }
        switch (material, other.material) {
        case (.recipient(_, _, let psk), .recipient(_, _, let otherPSK)): return psk == otherPSK
        case (.shared(_, let device), .shared(_, let otherDevice)): return device == otherDevice
        default: return false
        }
    }

    /// Whether its device set has a higher `seq`, or the other record has none.
    func hasNewerDeviceSet(than other: KeyRecord) -> Bool {
        deviceSet.map { set in other.deviceSet.map { set.sequence > $0.sequence } ?? true } ?? false
    }

    func recipient(_ device: DeviceID? = nil) throws(KeyError) -> Recipient {
        do {
            return try Recipient(Keyset.Entry(self, KeyLifecycle(activatesAt: UnixTime(0))), device: device)
        } catch {
            throw error as? KeyError ?? KeyError(.backendFailure, "key \(kid): \(error)")
        }
    }

    var suite: Suite? { algorithm.suite }
}
