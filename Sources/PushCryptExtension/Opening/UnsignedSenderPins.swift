public import PushCryptCore

/// The keys of a sender that the app trusts, in `FOLDER/senders.json`, which it shares with its extension: a published JWK set
/// without a signature, which an older set can't replace, and all keys that were ever revoked.
///
/// Only TLS protects such a set: any server that answers in the name of the app's server decides who may sign pushes. Use
/// ``SenderPins`` unless you have no safe place for a publisher's key.
///
/// Ship the first set with the app, or fetch it from an equally trusted source: it determines which signatures are accepted.
/// A later set only has to be newer, so fetch it only from the backend, over TLS.
///
/// Revocation is final. A key that an accepted set revokes never verifies again, even if the clock is set back, a later set
/// lists the key as valid, or ``forget()`` is called. Only the deletion of the file, for example with the app, removes the
/// revocation.
public struct UnsignedSenderPins: PinnedSender {
    private static let name = "senders.json"
    private let folder: String
    private let sender: String

    /// Creates pins in a folder of the app group's container; it may be the folder of a ``FileKeyring``.
    ///
    /// - Parameters:
    ///   - folder: another one for each sender.
    ///   - sender: the name of the sender, at most 65,535 bytes, see `TrustedSenders.init(json:name:)`. If you trust several
    ///     senders, give each its name, the same in app and extension.
    public init(folder: String, sender: String = "") { (self.folder, self.sender) = (folder, sender) }

    /// Pins a first published JWK set, UTF-8. A set that is already pinned stays.
    ///
    /// - Returns: whether the set was pinned.
    /// - Throws: `DeviceKeyError` with `unsuitable` if the JSON isn't a set of public sender keys; `conflict` if a key has the
    ///   id of another key that was revoked; `locked`.
    @discardableResult
    public func pinFirst(json: [UInt8]) throws(DeviceKeyError) -> Bool {
        let new = try PinnedSenderSet(json, isStored: false)
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

    /// Replaces the pinned set by a newer published JWK set, UTF-8. Revoked keys stay revoked.
    ///
    /// - Returns: false if the set is already pinned.
    /// - Throws: `DeviceKeyError` with `rolledBack` for a lower `seq`; `conflict` for other content with the same `seq`, or
    ///   another key with the same id; `notFound` before ``pinFirst(json:)``; `unsuitable`, `locked`; `damaged` if the
    ///   pinned set can't be read, so that its `seq` is unknown.
    @discardableResult
    public func update(json: [UInt8]) throws(DeviceKeyError) -> Bool {
        let new = try PinnedSenderSet(json, isStored: false)
        let folder = try KeyFolder(folder)
        try folder.lock()
        var state = try PinnedSenders(stored: folder.read(Self.name))
        guard state.set != nil else { throw DeviceKeyError(.notFound, "no sender keys are pinned") }
        guard try state.pin(new) else { return false }
        try folder.replace(Self.name, with: state.json)
        return true
    }

    /// Removes the pinned set and its `seq`, when the user signs out or the file is damaged. Until the next
    /// ``pinFirst(json:)`` no sender is trusted.
    ///
    /// Revocations are kept: signing out and in again must not make a stolen key valid. They are lost only if the file
    /// is damaged and they can't be read.
    ///
    /// - Throws: `DeviceKeyError` with `locked`.
    public func forget() throws(DeviceKeyError) {
        do throws(DeviceKeyError) {
            let folder = try KeyFolder(folder)
            try folder.lock()
            var json: [UInt8] = []
            do throws(DeviceKeyError) {
                json = try folder.read(Self.name)
            } catch  where error.code == .damaged {}
            let state = PinnedSenders(revocationsOf: json)
            if state.revoked.isEmpty {
                try folder.remove(Self.name)
            } else {
                try folder.replace(Self.name, with: state.json)
            }
        } catch  where error.code == .notFound {}
    }

    /// Returns the `seq` of the pinned set; nil if none is pinned.
    ///
    /// - Throws: `DeviceKeyError` with `locked`, `damaged`.
    public func sequence() throws(DeviceKeyError) -> Int64? {
        do throws(DeviceKeyError) {
            return try read().set?.keyset.sequence
        } catch  where error.code == .notFound {
            return nil
        }
    }

    /// Returns the keys that the extension verifies with; throws if there is no set.
    ///
    /// Pass the pins themselves to the opener, as `.pinned(pins)`: then a set that can't be read makes the push fail,
    /// and unsigned pushes are never opened.
    ///
    /// - Throws: `FailureClass`: `unknownKey` if nothing is pinned or the file is damaged, `keyLocked` before the first
    ///   unlock, `internalError`.
    public func trustedSenders() throws(FailureClass) -> TrustedSenders {
        let state: PinnedSenders
        do throws(DeviceKeyError) { state = try read() } catch { throw error.failureClass }
        guard let set = state.set,
            let senders = try? TrustedSenders(set.keyset, revoked: state.revoked, name: sender)
        else { throw .unknownKey }
        return senders
    }

    private func read() throws(DeviceKeyError) -> PinnedSenders {
        try PinnedSenders(stored: try KeyFolder(folder).read(Self.name))
    }
}

/// The stored state of ``UnsignedSenderPins``. One file contains set and revocations, so they are replaced in one step.
///
/// ```
/// {["set": JWK SET,] "revoked": ["<RFC 7638 thumbprint, 43 characters of base64url>", ...]}
/// ```
/// `revoked` contains every key that any accepted set revoked, and never shrinks. There is no `set` after
/// ``UnsignedSenderPins/forget()``.
struct PinnedSenders {
    private(set) var set: PinnedSenderSet?
    private(set) var revoked: Set<[UInt8]> = []

    init() {}

    /// - Throws: `DeviceKeyError` with `damaged`.
    init(stored json: [UInt8]) throws(DeviceKeyError) {
        let (root, revoked) = try Self.read(json)
        self.revoked = revoked
        set = try root["set"].map { set throws(DeviceKeyError) in
            try PinnedSenderSet(Array(set.rawBytes), isStored: true)
        }
    }

    /// Reads only the revocations; none if they can't be read.
    init(revocationsOf json: [UInt8]) { revoked = (try? Self.read(json).revoked) ?? [] }

    private static func read(_ json: [UInt8]) throws(DeviceKeyError) -> (root: JSONValue, revoked: Set<[UInt8]>) {
        guard let root = (try? JSONText(json))?.root, let revoked = RevokedKeys.read(root["revoked"]) else {
            throw DeviceKeyError(
                .damaged, "the pinned sender keys are not a JSON object with a list of revoked keys' thumbprints")
        }
        return (root, revoked)
    }

    /// UTF-8.
    var json: [UInt8] {
        let set = set.map { "\"set\": \(String(decoding: $0.text, as: UTF8.self)), " } ?? ""
        return Array("{\(set)\"revoked\": \(RevokedKeys.json(revoked))}\n".utf8)
    }

    /// - Returns: false if the set is already pinned.
    /// - Throws: `DeviceKeyError` with `rolledBack` or `conflict`.
    mutating func pin(_ new: PinnedSenderSet) throws(DeviceKeyError) -> Bool {
        if let set, try !new.isNewer(than: set) { return false }
        do { try new.keyset.requireNoCollision(with: revoked) } catch {
            throw DeviceKeyError(error, doing: "the set of sender keys can't be pinned")
        }
        set = new
        revoked.formUnion(new.revoked)
        return true
    }
}

/// A published set of sender keys in canonical form: sorted by id and written by this library, so that equal sets have
/// equal bytes.
struct PinnedSenderSet {
    let keyset: Keyset
    /// RFC 7638 thumbprints, 32 bytes each, of the keys with a revocation time, even one in the future.
    let revoked: Set<[UInt8]>
    let text: [UInt8]

    /// - Throws: `DeviceKeyError` with `damaged` for a stored set, `unsuitable` for a published one.
    init(_ json: [UInt8], isStored: Bool) throws(DeviceKeyError) {
        do {
            let read = try Keyset(json: json)
            guard !read.entries.contains(where: \.record.isPrivateAsymmetric) else {
                throw KeyError(.wrongKind, "it contains private keys")
            }
            let sorted = read.entries.sorted { $0.record.kid < $1.record.kid }
            keyset = try Keyset(sorted, sequence: read.sequence)
            // Refuses all other kinds of keys.
            _ = try TrustedSenders(keyset)
            revoked = try keyset.revokedThumbprints()
            text = try keyset.jwkSet(withHistory: false)
        } catch {
            throw isStored
                ? DeviceKeyError(.damaged, "the pinned sender keys can't be read: \(error)")
                : DeviceKeyError(.unsuitable, "not a published set of sender keys: \(error)")
        }
    }

    /// - Returns: false for the same set.
    /// - Throws: `DeviceKeyError` with `rolledBack` or `conflict`.
    func isNewer(than pinned: PinnedSenderSet) throws(DeviceKeyError) -> Bool {
        let own = keyset.sequence
        let theirs = pinned.keyset.sequence
        guard own >= theirs else {
            throw DeviceKeyError(
                .rolledBack, "the set of sender keys is number \(own), older than the pinned \(theirs)")
        }
        guard own > theirs else {
            if text == pinned.text { return false }
            throw DeviceKeyError(.conflict, "another set of sender keys is pinned under number \(own)")
        }
        for entry in keyset.entries {
            guard let known = pinned.keyset.entry(entry.record.kid) else { continue }
            guard let new = try? entry.record.thumbprint(), new == (try? known.record.thumbprint()) else {
                throw DeviceKeyError(.conflict, "another sender key has the id \(entry.record.kid)")
            }
        }
        return true
    }
}
