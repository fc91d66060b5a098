public import PushCryptCore

/// The keys of a sender that the app trusts: a set that a publisher has signed. `FOLDER/sender-set-SET.json`, which the app
/// shares with its extension, has the last accepted set; SET is the id of the pinned set.
///
/// The app's bundle pins the publishers, the set and an epoch (`SenderSetPins`), so only an app update changes whom the app
/// trusts. Who answers for the app's server, and who has a sender's key, can't. A publisher's key stays off the backends that
/// push.
///
/// ```
/// let pins = try SenderPins(folder: group.path(of: "senders"), publishers: bundled, topic: "com.example.app")
/// try pins.accept(document)                fetched at the app's start, at most daily, and before its first registration
/// ```
/// Ship a first signed set with the app too: it is accepted like a fetched one, and pushes open before the first fetch.
///
/// A set is accepted only if it is newer than the last one. A key that an accepted set revokes never verifies again in this
/// epoch, even if a later set doesn't list it or lists it as valid, or the clock is set back. Nothing in this library forgets
/// that when the user signs out. Only an app update with a higher epoch does, and the deletion of the file, for example with
/// the app.
///
/// A version of the app with a lower epoch than the stored set's accepts no set (`rolledBack`) and trusts no sender. That
/// happens if a development build pins a higher epoch than the store build that replaces it: give all builds the same epoch, or
/// delete the app.
///
/// Two devices could be served two different sets that a publisher has signed. Report ``version()`` to the backend with the
/// app's registration, so that it can see that.
public struct SenderPins: PinnedSender {
    private let folder: String
    private let name: String
    private let pins: SenderSetPins
    private let topic: Topic
    private let graceInSeconds: Int64

    /// Creates pins in a folder of the app group's container; it may be the folder of a ``FileKeyring``.
    ///
    /// - Parameters:
    ///   - publishers: what the app's bundle pins.
    ///   - topic: the app's bundle identifier, not the extension's.
    ///   - graceInSeconds: how long a set verifies after its `validUntil`. A stolen sender key that was revoked meanwhile is
    ///     accepted for as long if the device gets no new set. A negative value counts as 0.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(
        folder: String, publishers: SenderSetPins, topic: String, graceInSeconds: Int64 = 0
    ) throws(KeyError) {
        self.folder = folder
        self.topic = try Topic(topic)
        self.graceInSeconds = max(graceInSeconds, 0)
        pins = publishers
        name = "sender-set-\(Base64URL.encode(publishers.set)).json"
    }

    /// Accepts a signed set, as the tool publishes it, or throws and keeps the last one.
    ///
    /// - Parameters:
    ///   - document: a JWS in JSON, at most 256 KiB. It may come from any source.
    ///   - time: the device's clock. If it is behind the last set's `issuedAt`, that counts. The new set's `issuedAt` may be
    ///     later.
    /// - Returns: false if the set was accepted before.
    /// - Throws: `DeviceKeyError` with `notSigned` if no pinned publisher signed it; `otherSet` if it is another set, for
    ///   another app or for another epoch; `rolledBack` for a lower `seq`, or if a version of the app with a higher epoch has
    ///   accepted a set; `conflict` for other content with the same `seq`;
    ///   `expired` after its `validUntil`; `unsuitable` for another form or a limit; `damaged` if the stored set was changed,
    ///   see ``discardDamaged()``; `locked`, `insecure`, `failed`.
    @discardableResult
    public func accept(_ document: [UInt8], at time: UnixTime = .now) throws(DeviceKeyError) -> Bool {
        let set: SignedSenderSet
        do { set = try SignedSenderSet.verify(document, publishers: pins.publishers) } catch {
            throw DeviceKeyError(error, doing: "the set of sender keys is not accepted")
        }
        let folder = try KeyFolder(folder, creating: true)
        try folder.lock()
        let stored = try read(folder)
        let current = try stored.flatMap { stored throws(DeviceKeyError) in try usable(stored) }
        let state: SenderSetState
        do {
            state = try SenderSetState(
                accepting: set, pins: pins, topic: topic, stored: stored?.state,
                storedIssuedAt: current?.publication.issuedAt, at: time)
        } catch {
            throw DeviceKeyError(error, doing: "the set of sender keys is not accepted")
        }
        // The same set may be stored with signatures of publishers that the app no longer pins.
        if current != nil, state == stored?.state { return false }
        try folder.replace(name, with: StoredSenderSet(state: state, document: document).json)
        return true
    }

    /// Whether there is no set, also none that is damaged, has ended, or is of another epoch.
    ///
    /// - Throws: `FailureClass`: `keyLocked`, `internalError`.
    var isEmpty: Bool {
        get throws(FailureClass) {
            do throws(DeviceKeyError) { return try read(KeyFolder(folder)) == nil } catch {
                if error.code == .notFound { return true }
                if error.code == .damaged { return false }
                throw error.failureClass
            }
        }
    }

    /// Returns which set was accepted in the pinned epoch; nil if none was. The app reports it with its registration.
    ///
    /// - Throws: `DeviceKeyError` with `locked`, `damaged`, `insecure`, `failed`.
    public func version() throws(DeviceKeyError) -> SenderSetVersion? {
        let stored: StoredSenderSet?
        do throws(DeviceKeyError) { stored = try read(KeyFolder(folder)) } catch  where error.code == .notFound {
            return nil
        }
        guard let stored, try usable(stored) != nil else { return nil }
        return SenderSetVersion(stored.state)
    }

    /// Removes the stored set if it was damaged, with the memory of its revocations, so that ``accept(_:at:)`` accepts any
    /// valid set. A set that can be read stays.
    ///
    /// - Returns: whether a damaged set was removed.
    /// - Throws: `DeviceKeyError` with `locked`, `insecure`, `failed`.
    @discardableResult
    public func discardDamaged() throws(DeviceKeyError) -> Bool {
        do throws(DeviceKeyError) {
            let folder = try KeyFolder(folder)
            try folder.lock()
            do throws(DeviceKeyError) {
                if let stored = try read(folder) { _ = try usable(stored) }
                return false
            } catch  where error.code == .damaged {
                try folder.remove(name)
                return true
            }
        } catch  where error.code == .notFound { return false }
    }

    /// Returns the keys that the extension verifies with. The stored set is verified again.
    ///
    /// Pass the pins themselves to the opener, as `.pinned(pins)`: then a set that can't be read makes the push fail,
    /// and unsigned pushes are never opened.
    ///
    /// - Throws: `FailureClass`: `unknownKey` if no set was accepted in the pinned epoch, no pinned publisher signed the
    ///   stored one, or it was changed; `keyLocked` before the first unlock, `internalError`.
    public func trustedSenders() throws(FailureClass) -> TrustedSenders {
        let found: (stored: StoredSenderSet, set: SignedSenderSet)?
        do throws(DeviceKeyError) {
            let stored = try read(KeyFolder(folder))
            found = if let stored, let set = try usable(stored) { (stored, set) } else { nil }
        } catch {
            throw error.failureClass
        }
        guard let found else { throw .unknownKey }
        do {
            return try TrustedSenders(
                found.set, revoked: found.stored.state.revoked, graceInSeconds: graceInSeconds)
        } catch {
            throw .internalError
        }
    }

    private func read(_ folder: KeyFolder) throws(DeviceKeyError) -> StoredSenderSet? {
        do throws(DeviceKeyError) {
            return try StoredSenderSet(folder.read(name))
        } catch  where error.code == .notFound {
            return nil
        }
    }

    /// The stored set; nil if an app update has changed the publishers, the set or the epoch since it was accepted. Throws
    /// `DeviceKeyError` with `damaged`; `failed` if the library could not verify the set.
    private func usable(_ stored: StoredSenderSet) throws(DeviceKeyError) -> SignedSenderSet? {
        // An app update with a higher epoch replaces any state, also a damaged one.
        guard stored.state.epoch >= pins.epoch else { return nil }
        do {
            let set = try SignedSenderSet.verify(stored.document, publishers: pins.publishers)
            // Before the pins are compared: a state with a higher epoch than its document would be rolledBack for ever.
            if stored.isOf(set) {
                // At its own issuedAt, because a set that has expired since then isn't damaged.
                let state = try SenderSetState(
                    accepting: set, pins: pins, topic: topic, stored: stored.state, at: set.publication.issuedAt)
                if state == stored.state { return set }
            }
        } catch let error as KeyError where error.isAboutPins {
            return nil
        } catch {
            // A lack of memory says nothing about the file.
            let error = DeviceKeyError(error, doing: "\(folder)/\(name) can't be verified")
            guard error.code != .failed else { throw error }
        }
        throw DeviceKeyError(
            .damaged, "\(folder)/\(name) was changed: discard it, and accept a signed set of sender keys again")
    }
}

extension KeyError {
    /// Whether a set would be accepted by an app that pins other publishers, another set or another epoch.
    fileprivate var isAboutPins: Bool { [.notSigned, .otherSet, .otherTopic, .otherEpoch].contains(code) }
}
