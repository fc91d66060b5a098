package import PushCryptCore

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
    package func isAuthentic(_ key: HistoryKey?) -> Bool { mac == key?.mac(of: log) }
}
