import PushCryptCore
import PushCryptPrimitives

/// Reads the record that a directory holds under a name.
enum StoredRecord {
    /// Why there is none.
    enum Failure: Error {
        /// The text doesn't bear the name under which it was found.
        case foreign
        case invalid(KeyError)
    }

    /// - Parameter text: wiped here.
    static func read(_ text: consuming [UInt8], named name: RecordName) throws(Failure) -> KeyRecord {
        var bytes = text
        defer { wipe(&bytes) }
        return try parse(bytes, named: name)
    }

    private static func parse(_ text: [UInt8], named name: RecordName) throws(Failure) -> KeyRecord {
        guard let root = try? JSONText(text).root, let found = try? RecordName(root), found == name else {
            throw .foreign
        }
        do {
            return try KeyRecord(root, backend: DefaultBackend.shared)
        } catch let error as KeyError {
            throw .invalid(error)
        } catch {
            throw .invalid(KeyError(.backendFailure, "key \(name.kid): \(error)"))
        }
    }
}

extension KeyRecord {
    /// Whether messages to both come out the same: the same key, whole, and the same psk.
    func isSameRecipient(as other: KeyRecord) -> Bool {
        guard let own = try? thumbprint(), let others = try? other.thumbprint(), own == others else { return false }
        switch (material, other.material) {
        case (.recipient(_, _, let psk), .recipient(_, _, let otherPSK)): return psk == otherPSK
        case (.shared(_, let device), .shared(_, let otherDevice)): return device == otherDevice
        default: return false
        }
    }

    /// Throws unless it is a key that messages are sealed to, and nothing more.
    func requireRecipient() throws(KeyError) {
        _ = try recipient()
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
