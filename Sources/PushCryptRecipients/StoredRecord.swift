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

    /// Why a JSON text has no name. The reason contains no part of the text.
    package struct Missing: Error {
        package let reason: String
    }

    package init(_ record: JSONValue) throws(Missing) {
        guard record.kind == .object else { throw Missing(reason: "not a JSON object") }
        guard let kid = record["kid"]?.utf8.flatMap(KeyID.init(utf8:)) else {
            throw Missing(reason: "no kid of \(KeyID.characterCount) characters of base64url")
        }
        self.kid = kid
        guard let device = record["device"] else {
            self.device = nil
            return
        }
        guard let id = device.string, let id = try? DeviceID(id) else {
            throw Missing(reason: "device is not a device id")
        }
        self.device = id
    }

    /// Reads the name of a row of the table.
    package init(kid: String, device: String) throws(Missing) {
        guard let kid = KeyID(kid), device.isEmpty || (try? DeviceID(device)) != nil else {
            throw Missing(reason: "kid or device is invalid")
        }
        self.init(kid, try? DeviceID(device))
    }

    /// The value of the table's column `device`; empty if there is no device.
    var deviceText: String { device?.description ?? "" }

    package var description: String { device.map { "\(kid) of device \($0)" } ?? "\(kid)" }
}

/// A record of a directory, or why no message can be sealed to it.
package struct StoredRecord {
    let name: RecordName
    package let result: Result<KeyRecord, Flaw>

    /// Why a record can't be used. The reason contains no key bytes.
    package struct Flaw: Error {
        package let reason: String
        package let isPrivateKey: Bool
    }

    /// - Parameter text: the caller wipes it.
    /// - Returns: nil if the text isn't a record with that name.
    package init?(_ text: [UInt8], named name: RecordName) {
        guard let root = try? JSONText(text).root, let found = try? RecordName(root), found == name else { return nil }
        self.name = name
        result = Result { () throws(Flaw) in try Self.record(root, kid: name.kid) }
    }

    private static func record(_ root: JSONValue, kid: KeyID) throws(Flaw) -> KeyRecord {
        let record: KeyRecord
        do {
            record = try KeyRecord(root, backend: DefaultBackend.shared)
        } catch let error as KeyError {
            throw Flaw(reason: error.reason, isPrivateKey: false)
        } catch {
            throw Flaw(reason: "key \(kid): \(error)", isPrivateKey: false)
        }
        do throws(KeyError) {
            _ = try record.recipient()
        } catch {
            throw Flaw(reason: error.reason, isPrivateKey: record.isPrivateAsymmetric)
        }
        return record
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

    func recipient(_ device: DeviceID? = nil) throws(KeyError) -> Recipient {
        do {
            return try Recipient(Keyset.Entry(self, KeyLifecycle(activatesAt: UnixTime(0))), device: device)
        } catch let error as KeyError {
            throw error
        } catch {
            throw KeyError(.backendFailure, "key \(kid): \(error)")
        }
    }

    var suite: Suite? {
        if case .suite(let suite) = algorithm { suite } else { nil }
    }
}
