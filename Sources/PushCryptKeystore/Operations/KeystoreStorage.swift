package import PushCryptCore
package import PushCryptKeysets

/// A keyset that was read and, if it is encrypted, authenticated.
package struct OpenedKeyset: Sendable {
    package let log: KeysetLog
    package let material: KeysetMaterial

    package init(_ log: KeysetLog, _ material: KeysetMaterial) {
        self.log = log
        self.material = material
    }

    package var state: KeysetState { log.state }
    /// What a host remembers of the keyset.
    package func history(lastRun: UnixTime? = nil) -> KeysetHistory {
        KeysetHistory(log, mac: material.historyKey?.mac(of: log), lastRun: lastRun)
    }
}

/// What a host has seen of a keyset.
package struct KeysetHistory: Sendable {
    package let log: KeysetLog
    /// nil for keys in clear.
    package let mac: [UInt8]?
    /// When the host last ran `rotate` for the keyset; nil if no run was recorded.
    package let lastRun: UnixTime?

    package init(_ log: KeysetLog, mac: [UInt8]?, lastRun: UnixTime? = nil) {
        self.log = log
        self.mac = mac
        self.lastRun = lastRun
    }

    /// Whether the log is one of the keyset's.
    func isAuthentic(_ key: HistoryKey?) -> Bool { mac == key?.mac(of: log) }
}

/// The files that commands read and write: keysets, the histories of a host, and the served folder.
package protocol KeystoreStorage {
    /// - Returns: nil if there is no file.
    /// - Throws: `KeysetLogError`, also with `notAuthentic`.
    func keyset(_ path: String) throws -> OpenedKeyset?
    /// Replaces a file in one step.
    func replace(_ path: String, with keyset: OpenedKeyset) throws
    func remove(_ path: String) throws
    /// The files with this id in the keystore of a file, this one among them.
    func paths(of id: KeysetID, inKeystoreOf path: String) throws -> [String]
    func history(of id: KeysetID) throws -> KeysetHistory?
    func setHistory(_ history: KeysetHistory) throws
    /// - Returns: nil if there is no file.
    func served(_ name: String) throws -> [UInt8]?
    /// The names of all files in the served folder.
    func servedNames() throws -> [String]
    func serve(_ document: [UInt8], as name: String) throws
}
