package import PushCryptKeysets

extension KeystoreHost {
    /// Reads a keyset without its secret and compares it with what the host has seen. Nothing authenticates its log.
    ///
    /// - Throws: `KeystoreRefusal` with `missing`, `olderThanHistory`, `twoHistories`; what the storage throws.
    package func read(_ path: String) throws -> KeysetLog {
        guard var log = try storage.keyset(path)?.log else { throw KeystoreRefusal.missing(path: path) }
        let history = try storage.history(of: log.state.id)
        if let seen = history?.log, !log.extends(seen), let newer = try storage.keyset(path)?.log {
            // Another process may have changed the keyset between the two reads.
            log = newer
        }
        try requireExtension(log, of: history)
        return log
    }
}
