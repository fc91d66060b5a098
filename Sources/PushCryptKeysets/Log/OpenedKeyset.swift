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
    ///
    /// - Parameters:
    ///   - old: what it remembered before, with the last run.
    ///   - time: of a first sight; nil for a keyset that the host makes.
    package func history(after old: KeysetHistory? = nil, seenAt time: UnixTime? = nil) -> KeysetHistory {
        KeysetHistory(
            log, mac: material.historyKey?.mac(of: log), firstSeen: old == nil ? time : old?.firstSeen,
            lastRun: old?.lastRun, lastStatus: old?.lastStatus)
    }
}
