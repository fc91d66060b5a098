import PushCryptCore

/// What a record is found by: the key's id and, for one device's key of a shared master, the device's.
struct RecordName: Hashable, Sendable, CustomStringConvertible {
    let kid: KeyID
    let device: DeviceID?

    init(_ kid: KeyID, _ device: DeviceID?) {
        self.kid = kid
        self.device = device
    }

    /// Why a text has no name. Nothing of the text is in the words.
    struct Missing: Error {
        let reason: String
    }

    init(_ record: JSONValue) throws(Missing) {
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

    /// As ``RecordSource/visitAll(_:)`` has it.
    init(kid: String, device: String) throws(Missing) {
        guard let kid = KeyID(kid), device.isEmpty || (try? DeviceID(device)) != nil else {
            throw Missing(reason: "kid or device isn't one")
        }
        self.init(kid, try? DeviceID(device))
    }

    /// As the tables have it: empty where there is none.
    var deviceText: String { device?.description ?? "" }

    var description: String { device.map { "\(kid) of device \($0)" } ?? "\(kid)" }
}
