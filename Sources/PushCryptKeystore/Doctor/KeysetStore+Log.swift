package import PushCryptKeysets

extension KeysetStore {
    /// The audit log and how it stands to the keyset, read under the lock that changes take.
    ///
    /// - Parameter secret: where it is given, what the keyset says of its log is authenticated.
    /// - Throws: `KeystoreError`, `KeyError`; also where only the keyset can't be read.
    package func log(_ secret: SecretSource) throws -> (log: AuditLog, condition: AuditLog.Condition) {
        let snapshot = try KeysetSnapshot(folder.path, requiringPrivacy: true)
        let metadata = try snapshot.keyset.get().metadata(secret)
        let log = try snapshot.log.get()
        return (log, log.condition(metadata.audit))
    }
}
