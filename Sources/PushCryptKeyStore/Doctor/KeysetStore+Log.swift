import PushCryptKeyFiles

extension KeysetStore {
    /// The audit log and how it stands to the keyset, read under the lock that changes take.
    ///
    /// - Throws: `KeyStoreError`, `KeyError`; also where only the keyset can't be read.
    package func log() throws -> (log: AuditLog, condition: AuditLog.Condition) {
        let snapshot = try KeysetSnapshot(folder.path, refusingLooseModes: true)
        let file = try snapshot.keyset.get()
        let log = try snapshot.log.get()
        return (log, log.condition(file.metadata.audit))
    }
}
