package import PushCryptCore
package import PushCryptKeysets

/// The files of a host: keysets, histories, and the served folder. Keysets and histories are changed through ``LockedStorage``
/// only, so that no change can forget the lock.
package protocol KeystoreStorage {
    associatedtype Locked: LockedStorage

    /// Locks the keystore of a path, then the histories, until the result is released. No other keyset is locked meanwhile.
    ///
    /// - Parameter path: of a keyset; nil to lock the histories alone.
    func lock(_ path: String?) throws -> Locked
    /// Reads a keyset without changing it.
    ///
    /// - Returns: nil if there is no file.
    func keyset(_ path: String) throws -> FoundKeyset?
    func history(of id: KeysetID) throws -> KeysetHistory?
    /// Remembers a keyset that was read and authenticated, if this host and user can.
    ///
    /// - Parameters:
    ///   - seen: what it was compared with.
    ///   - time: of a first sight.
    func raiseHistory(to keyset: OpenedKeyset, from seen: KeysetHistory?, at time: UnixTime) throws
    /// - Returns: nil if there is no file.
    func served(_ name: String) throws -> [UInt8]?
    /// The names of all files in the served folder.
    func servedNames() throws -> [String]
    func serve(_ document: [UInt8], as name: String) throws
    /// Removes a file of the served folder if it is there.
    func removeServed(_ name: String) throws
}

/// A keystore and the histories of a host while they are locked.
package protocol LockedStorage {
    /// Reads a keyset to change it.
    ///
    /// - Returns: nil if there is no file.
    func keyset(_ path: String) throws -> FoundKeyset?
    /// The other files with this id in the same keystore.
    func others(of id: KeysetID, than path: String) throws -> [String]
    /// Replaces a file in one step.
    func replace(_ path: String, with keyset: OpenedKeyset) throws
    func remove(_ path: String) throws
    /// Writes a history unless it is the one that is there.
    ///
    /// - Parameter seen: the one that is there.
    func setHistory(_ history: KeysetHistory, from seen: KeysetHistory?) throws
}

/// A keyset's file that was read and not yet unlocked.
package struct FoundKeyset {
    /// Authenticated only if the keys are in clear, where nothing is.
    package let log: KeysetLog
    private let unlock: () throws -> KeysetMaterial

    package init(_ log: KeysetLog, _ unlock: @escaping () throws -> KeysetMaterial) {
        self.log = log
        self.unlock = unlock
    }

    /// Uses the secret and authenticates the log.
    ///
    /// - Throws: as `KeysetRows.unlocked`.
    package func opened() throws -> OpenedKeyset { OpenedKeyset(log, try unlock()) }
}

/// A keyset that is locked from reading to the end of its change.
package struct LockedKeyset<Files: LockedStorage> {
    package let path: String
    package let files: Files
    package let found: FoundKeyset
    /// What the host has seen before.
    package let history: KeysetHistory?

    /// Not authenticated, unless ``isKnown``.
    package var log: KeysetLog { found.log }
    package var state: KeysetState { found.log.state }
    /// Whether this host has seen, and so authenticated, exactly these lines.
    package var isKnown: Bool { history?.log.state.head == state.head }

    /// The keyset after it was authenticated or changed, under the same lock.
    func followed(by opened: OpenedKeyset, at clock: UnixTime) -> LockedKeyset {
        LockedKeyset(
            path: path, files: files, found: FoundKeyset(opened.log) { opened.material },
            history: opened.history(after: history, seenAt: clock))
    }
}
