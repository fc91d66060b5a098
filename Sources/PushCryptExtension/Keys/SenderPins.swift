public import PushCryptCore

/// The sender keys that the app trusts, in a file that it shares with its extension: a published JWK set, protected against
/// an older one in its place, and the keys that were ever revoked.
///
/// ```
/// FOLDER/senders.json
/// ```
/// The first set comes with the app, or from where the app trusts as much: it decides whose signatures count. Every later
/// one only has to be newer, so fetch those from the backend alone, over TLS.
///
/// Revocation is final. A key that one accepted set lists as revoked verifies nothing from then on: not with the device's
/// clock set back, not after a later set lists it as good again, and not after ``forget()``. Only the file's removal with
/// its folder, as when the app is deleted, ends that.
public struct SenderPins: Sendable {
    private let folder: String

    /// - Parameter folder: a path in the app group's container, as of ``FileKeyring``; it may be the same.
    public init(folder: String) {
        self.folder = folder
    }

    /// Pins a first set; one that is pinned already stays, whatever it is.
    ///
    /// - Parameter json: a published JWK set, UTF-8.
    /// - Returns: whether it was the first.
    /// - Throws: `DeviceKeyError` with `unsuitable` for anything but public sender keys, `conflict` for a key with the id of
    ///   another one that was revoked, `locked`.
    @discardableResult
    public func pinFirst(json: [UInt8]) throws(DeviceKeyError) -> Bool {
        let new = try PinnedSenderSet(published: json)
        let folder = try KeyFolder(folder, creating: true)
        try folder.lock()
        var state = PinnedSenders()
        do throws(DeviceKeyError) {
            state = try PinnedSenders(stored: folder.read(Self.name))
        } catch  where error.code == .damaged {
            return false
        } catch  where error.code == .notFound {}
        guard state.set == nil, try state.pin(new) else { return false }
        try folder.replace(Self.name, with: state.json)
        return true
    }

    /// Puts a newer set in place of the pinned one. A key that was revoked stays revoked, whatever the set says.
    ///
    /// - Parameter json: a published JWK set, UTF-8.
    /// - Returns: false for the set that is pinned.
    /// - Throws: `DeviceKeyError` with `rolledBack` for one with a lower `seq`; `conflict` for other content under the same
    ///   `seq`, or another key under the same id; `notFound` when nothing was pinned yet, see ``pinFirst(json:)``;
    ///   `unsuitable`, `locked`; `damaged` where the pinned set can't be read: how new it was can't be known then.
    @discardableResult
    public func update(json: [UInt8]) throws(DeviceKeyError) -> Bool {
        let new = try PinnedSenderSet(published: json)
        let folder = try KeyFolder(folder)
        try folder.lock()
        var state = try PinnedSenders(stored: folder.read(Self.name))
        guard state.set != nil else { throw Self.nothingPinned }
        guard try state.pin(new) else { return false }
        try folder.replace(Self.name, with: state.json)
        return true
    }

    /// Forgets the pinned set, and how new it was: for a user who signs out, and for a damaged file. Until the next
    /// ``pinFirst(json:)`` nothing is trusted.
    ///
    /// Revoked keys are not forgotten: signing out and in again doesn't make a stolen key good. Only of a damaged file may
    /// they be lost, if they can't be read.
    ///
    /// - Throws: `DeviceKeyError` with `locked`.
    public func forget() throws(DeviceKeyError) {
        do throws(DeviceKeyError) {
            let folder = try KeyFolder(folder)
            try folder.lock()
            var state = PinnedSenders(salvaging: try Self.readable(in: folder))
            state.forget()
            if state.revoked.isEmpty {
                try folder.remove(Self.name)
            } else {
                try folder.replace(Self.name, with: state.json)
            }
        } catch  where error.code == .notFound {}
    }

    /// The `seq` of the pinned set; nil where none is pinned yet.
    ///
    /// - Throws: `DeviceKeyError` with `locked`, `damaged`.
    public func sequence() throws(DeviceKeyError) -> Int64? {
        do throws(DeviceKeyError) {
            return try read().set?.keyset.sequence
        } catch  where error.code == .notFound {
            return nil
        }
    }

    /// What the extension verifies with.
    ///
    /// It throws rather than giving an empty set. Hand the pins themselves to the opener, as `.pinned(pins)`: a set that
    /// can't be read is then the failure of the push, and never means that unsigned pushes are opened.
    ///
    /// - Throws: `FailureClass`: `unknownKey` where nothing was pinned yet or the file is damaged, `keyLocked` before the
    ///   first unlock, `internalError`.
    public func trustedSenders() throws(FailureClass) -> TrustedSenders {
        do throws(DeviceKeyError) {
            guard let senders = try read().senders else { throw Self.nothingPinned }
            return senders
        } catch {
            throw error.failureClass
        }
    }

    /// - Returns: the file; empty for one that is too long to be read.
    private static func readable(in folder: KeyFolder) throws(DeviceKeyError) -> [UInt8] {
        do throws(DeviceKeyError) {
            return try folder.read(name)
        } catch  where error.code == .damaged {
            return []
        }
    }

    private func read() throws(DeviceKeyError) -> PinnedSenders {
        try PinnedSenders(stored: try KeyFolder(folder).read(Self.name))
    }

    private static let name = "senders.json"

    private static let nothingPinned = DeviceKeyError(.notFound, "no sender keys are pinned")
}
