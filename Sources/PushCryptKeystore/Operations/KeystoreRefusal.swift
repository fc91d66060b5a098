package import PushCryptCore
package import PushCryptKeysets

/// Why a command doesn't change or publish a keyset. Each code names the invariant that would fail.
package enum KeystoreRefusal: Error, Hashable, Sendable {
    case missing(path: String)
    /// A new keyset would replace one.
    case exists(path: String)
    /// The keys are published with this project.
    case demoKeys(path: String)
    /// The host has seen later lines: the file is an old copy.
    case olderThanHistory(id: KeysetID, seen: LogPoint)
    /// Neither the file nor what the host has seen goes on from the other.
    case twoHistories(id: KeysetID, seen: LogPoint)
    /// The host has seen the keyset encrypted, and the keys are in clear.
    case notEncrypted(id: KeysetID)
    case twoFiles(id: KeysetID, paths: [String])
    case otherWriter(String)
    /// The clock is before the last line.
    case clockBehind(lastLine: UnixTime)
    /// The clock is long after the last line and the last run.
    case clockAhead(last: UnixTime)
    /// The keyset names no topics, or no set was published in the epoch.
    case noPublication
    /// The log names no publisher for the epoch, or another one.
    case otherPublisher(epoch: Int64)
    /// The publisher's log doesn't go on from the point that was published last.
    case olderPublisher(published: LogPoint)
    /// A sender key is or was a key of the publisher.
    case publisherKey(KeyID)
    /// The log doesn't go on from the served set, which a publisher at hand may have signed: then only a restoration helps.
    case servedAhead(LogPoint, isSigned: Bool)
    /// A person didn't agree to sign new keys.
    case notReviewed
    /// The set has more bytes or revoked keys than apps accept.
    case setTooLarge
    /// A person must choose what is given up.
    case choiceNeeded(GivenUp)
    /// Lines of a list that are no device ids, counted from 1.
    case noDeviceIDs(list: String, lines: [Int])
    /// The keyset has no key that could be changed in this way.
    case unknownKey(KeyID)
    /// A set is signed for 1 to 16 different topics, and for 14 to 90 days.
    case publicationLimits
    /// Another publisher signs the epoch, and apps that pin the epoch trust that one.
    case epochTaken(Int64)
    /// One of these epochs must be named.
    case epochNeeded([Int64])
    /// A publisher keyset has 1 to 4 keys.
    case publisherCount
    case unknownSecret(SecretName, among: [SecretName])
    /// The keyset would have no secret.
    case lastSecret
    /// The keyset gets a key that a removed secret doesn't open, and these secrets have to wrap it.
    case secretsNeeded([SecretName])

    /// What a restoration gives up.
    package enum GivenUp: Hashable, Sendable {
        /// A log that parts from the longest one.
        case log(LogPoint)
        /// - Parameter revokes: keys that no log revokes. These revocations are kept.
        case servedSet(epoch: Int64?, LogPoint, revokes: [KeyID])
        /// A set that no publisher at hand has signed. A person says whether it is true: then the keyset's keys that it revokes, and
        /// that no log revokes, are revoked.
        case unsignedSet(epoch: Int64?, LogPoint, revokes: [KeyID])
        /// The point that another keyset's log has of this one.
        case namedPoint(LogPoint)
    }
}

extension KeystoreRefusal {
    package init(_ objection: KeysetHistory.Objection, to id: KeysetID, seen: LogPoint) {
        switch objection {
        case .older: self = .olderThanHistory(id: id, seen: seen)
        case .parted: self = .twoHistories(id: id, seen: seen)
        case .notEncrypted: self = .notEncrypted(id: id)
        }
    }
}
