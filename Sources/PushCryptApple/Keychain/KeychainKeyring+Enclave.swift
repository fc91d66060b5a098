#if canImport(Security)
import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import Security

/// Pairs whose private half is made in the Secure Enclave and stays there. The record beside it holds the public half, the
/// psk and the life.
extension KeychainKeyring {
    /// Making a key is two steps, which another one in the same process must not come between.
    private static let making = Locked(())

    func makeInEnclave(withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        try Self.making.withLock { _ in
            Result { () throws(DeviceKeyError) in
                try removeUnnamed()
                return try make(withPSK: withPSK, at: time)
            }
        }.get()
    }

    /// Keys that a crash left without a record.
    private func removeUnnamed() throws(DeviceKeyError) {
        let known = Set(try items.list().compactMap(\.generic))
        for tag in try enclave.tags() where !known.contains(tag) { try enclave.remove(tag) }
    }

    private func make(withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        let (key, tag) = try enclavePair(withPSK: withPSK, at: time)
        let stored = try key.replacing(key.record.publicRecord(keepingPSK: true))
        guard try items.add(key.kid.description, Self.data(stored), generic: tag) else {
            throw DeviceKeyError(.conflict, "another key is called \(key.kid); it is not replaced")
        }
        return key
    }

    /// As of ``KeyRecord/generate(_:group:psk:backend:)``, its kid doesn't begin with `-`.
    private func enclavePair(withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> (DeviceKey, tag: Data) {
        while true {
            let tag = Data("\(items.service).\(UUID().uuidString)".utf8)
            let record = try Self.record(try enclave.make(tag), withPSK: withPSK)
            guard record.kid.description.hasPrefix("-") else {
                return (try DeviceKey(record, KeyLifecycle(createdAt: time), writtenAt: time), tag)
            }
            try enclave.remove(tag)
        }
    }

    private static func record(_ privateKey: EnclaveKey, withPSK: Bool) throws(DeviceKeyError) -> KeyRecord {
        let backend = DefaultBackend.shared
        do {
            let psk = withPSK ? try backend.randomSecret(count: KeyRecord.secretByteCount) : nil
            return try KeyRecord(
                .recipient(publicKey: privateKey.publicKey, privateKey: privateKey, psk: psk), backend: backend)
        } catch {
            throw DeviceKeyError(.failed, "no key pair could be made: \(error)")
        }
    }
}
#endif
