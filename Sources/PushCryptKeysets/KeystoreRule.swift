/// The rules of the keystore's design. A debug build can do without one, so that a test shows that it is needed.
package enum KeystoreRule: String, CaseIterable, Sendable {
    /// No line changes or removes `revokedAt` and `destroyedAt`.
    case final
    /// A reader with the secret authenticates the log.
    case authenticate
    /// The log extends the history of the host.
    case history
    /// A restoration believes a history only with the keyset's mac.
    case historyMAC
    /// The log extends the point of the served set.
    case servedPoint
    /// A served set counts only under its own id.
    case servedID
    /// A served set lists every key that was ever revoked.
    case servedRevoked
    /// A restoration keeps the revocations of signed served sets.
    case restoreServed
    /// A restoration keeps the revocations of logs that are given up.
    case restoreLogs
    /// A restoration believes only sets that a publisher has signed.
    case restoreSigned
    /// The number of a restoration is above each number met.
    case numberAbove
    /// A restoration names every line that is given up, and not only the last ones.
    case overLines
    /// A set or log that no file continues is given up only by a person.
    case overAsks
    /// A key without material is lost and not destroyed: a later restoration can find it.
    case lost
    /// A line `published` names the publisher's point, and the publisher's log extends it.
    case publisherPoint
    /// The log names the publisher of each epoch.
    case epochPublisher
    /// A set is signed again if the publisher's keys have changed.
    case resign
    /// A person reviews new keys before the signing host signs.
    case review
    /// One host writes.
    case writer
    /// Two files of one id in a keystore are refused.
    case oneFile
    /// An implausible clock is refused.
    case clock
    /// `issuedAt` never goes back, also after a restoration.
    case issueRises
    /// A set that is issued ahead of the clock lists no ends of keys.
    case openEnds
    /// No change leaves a keyset without a key that seals.
    case keepsPrimary
    /// A corrected clock moves the times of wrong lines by their error, and no others.
    case shift

    #if DEBUG
    @TaskLocal package static var off: Set<KeystoreRule> = []
    package var isOn: Bool { !Self.off.contains(self) }
    #else
    @inline(__always) package var isOn: Bool { true }
    #endif
}
