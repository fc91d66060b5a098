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
    /// - Parameter old: what it remembered before, with the last run.
    package func history(after old: KeysetHistory? = nil) -> KeysetHistory {
        KeysetHistory(
            log, mac: material.historyKey?.mac(of: log), lastRun: old?.lastRun, lastStatus: old?.lastStatus)
    }
}
