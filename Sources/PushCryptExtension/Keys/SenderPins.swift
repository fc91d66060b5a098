public import PushCryptCore

/// The sender keys that the app trusts, in a file that it shares with its extension: a published JWK set, protected against
/// an older one in its place.
///
/// ```
/// FOLDER/senders.jwks.json
/// ```
/// The first set comes with the app, or from where the app trusts as much: whoever provides it decides whose signatures
/// count. Every later one only has to be newer, so fetch those from the backend alone, over TLS.
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
    /// - Throws: `DeviceKeyError` with `unsuitable` for anything but public sender keys, `locked`.
    @discardableResult
    public func pinFirst(json: [UInt8]) throws(DeviceKeyError) -> Bool {
        let new = try PinnedSet(published: json)
        let folder = try KeyFolder(folder, creating: true)
        try folder.lock()
        guard !folder.has(Self.name) else { return false }
        try folder.replace(Self.name, with: new.text)
        return true
    }

    /// Puts a newer set in place of the pinned one.
    ///
    /// - Parameter json: a published JWK set, UTF-8.
    /// - Returns: false for the set that is pinned.
    /// - Throws: `DeviceKeyError` with `rolledBack` for one with a lower `seq`; `conflict` for other content under the same
    ///   `seq`, or another key under the same id; `notFound` when nothing was pinned yet, see ``pinFirst(json:)``;
    ///   `unsuitable`, `locked`; `damaged` where the pinned set can't be read: how new it was can't be told any more.
    @discardableResult
    public func update(json: [UInt8]) throws(DeviceKeyError) -> Bool {
        let new = try PinnedSet(published: json)
        let folder = try KeyFolder(folder)
        try folder.lock()
        let pinned = try PinnedSet(stored: try folder.read(Self.name))
        guard try new.isNewer(than: pinned) else { return false }
        try folder.replace(Self.name, with: new.text)
        return true
    }

    /// Forgets the pinned set, and how new it was: for a user who signs out, and for a damaged file. Until the next
    /// ``pinFirst(json:)`` nothing is trusted.
    ///
    /// - Throws: `DeviceKeyError` with `locked`.
    public func forget() throws(DeviceKeyError) {
        do throws(DeviceKeyError) {
            let folder = try KeyFolder(folder)
            try folder.lock()
            try folder.remove(Self.name)
        } catch  where error.code == .notFound {}
    }

    /// The `seq` of the pinned set; nil where none is pinned yet.
    ///
    /// - Throws: `DeviceKeyError` with `locked`, `damaged`.
    public func sequence() throws(DeviceKeyError) -> Int64? {
        do throws(DeviceKeyError) {
            return try read().keyset.sequence
        } catch  where error.code == .notFound {
            return nil
        }
    }

    /// What the extension verifies with.
    ///
    /// Throws rather than giving an empty set or none: an opener without pinned senders shows what anybody sealed.
    ///
    /// - Throws: `FailureClass`: `unknownKey` where nothing was pinned yet or the file is damaged, `keyLocked` before the
    ///   first unlock, `internalError`.
    public func trustedSenders() throws(FailureClass) -> TrustedSenders {
        do throws(DeviceKeyError) {
            return try read().senders
        } catch {
            throw error.failureClass
        }
    }

    private func read() throws(DeviceKeyError) -> PinnedSet {
        try PinnedSet(stored: try KeyFolder(folder).read(Self.name))
    }

    private static let name = "senders.jwks.json"
}
