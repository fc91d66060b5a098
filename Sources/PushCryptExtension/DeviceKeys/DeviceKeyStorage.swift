public import PushCryptCore
public import PushCryptPrimitives

/// Stores the device's own keys. The extension reads them, and erases day keys, as a ``RecipientKeyring``; the app changes them with
/// ``DeviceIdentity``.
///
/// Every function throws `locked` if the keys can't be read yet, and never treats such a key as missing. Otherwise an app
/// would make a new key after each restart, and its pushes would remain placeholders.
public protocol DeviceKeyStorage: RecipientKeyring {
    /// How long the keys are used.
    var period: KeyPeriod { get }

    /// Returns the sorted ids of all keys, including damaged ones.
    ///
    /// - Throws: `DeviceKeyError` with `locked` if the list may be incomplete.
    func keyIDs() throws(DeviceKeyError) -> [KeyID]

    /// Loads one key.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`, `damaged`, `unsupportedSuite`.
    func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey

    /// Makes and stores a key pair in one step, with or without a pre-shared key. The pair opens from now on and awaits
    /// its registration.
    ///
    /// - Throws: `DeviceKeyError` with `locked`, `unsuitable` for suite `shared`, `unsupportedSuite`.
    func make(_ suite: Suite, withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey

    /// Stores a key. A key that is already stored stays unchanged.
    ///
    /// - Throws: `DeviceKeyError` with `conflict` if another key has the same id; that key stays.
    func add(_ key: DeviceKey) throws(DeviceKeyError)

    /// Changes the lifecycle of a key in one step.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`, `damaged`.
    func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError)

    /// Erases a key if it exists.
    ///
    /// - Throws: `DeviceKeyError` with `locked`.
    func remove(_ kid: KeyID) throws(DeviceKeyError)

    /// Reads the one item of all day keys; nil if there is none. It is a secret.
    ///
    /// - Throws: `DeviceKeyError` with `locked`, or nil then if an item may be missing in error.
    func dayKeys() throws(DeviceKeyError) -> SecretBytes?

    /// Replaces the item of the day keys in one step, or removes it. App and extension may do it at the same time.
    ///
    /// - Parameters:
    ///   - old: the item that was read.
    ///   - new: nil removes the item, whatever it is.
    /// - Returns: false, and nothing was changed, if the item isn't `old` any more.
    /// - Throws: `DeviceKeyError` with `locked`.
    func replaceDayKeys(_ old: SecretBytes?, by new: SecretBytes?) throws(DeviceKeyError) -> Bool
}

/// A storage without day keys.
extension DeviceKeyStorage {
    /// One key pair, which is replaced after 90 days.
    public var period: KeyPeriod { .renewed() }
    /// None.
    public func dayKeys() throws(DeviceKeyError) -> SecretBytes? { nil }
    /// Throws `unsuitable` for an item.
    public func replaceDayKeys(_ old: SecretBytes?, by new: SecretBytes?) throws(DeviceKeyError) -> Bool {
        guard new != nil else { return true }
        throw DeviceKeyError(.unsuitable, "this storage has no day keys")
    }
}

extension DeviceKeyStorage {
    /// Loads the key and checks that it opens at the time. With day keys it looks among these first.
    public func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        if period.days != nil, let key = try dayKey(id) { return key }
        let key: DeviceKey
        do throws(DeviceKeyError) { key = try load(id) } catch {
            // Also with day keys: the device may have been unlocked since the first look.
            if error.code == .notFound, let key = try dayKey(id) { return key }
            throw error.failureClass
        }
        return try key.recipientKey(at: time)
    }

    private func dayKey(_ id: KeyID) throws(FailureClass) -> RecipientKey? {
        let item: SecretBytes?
        do throws(DeviceKeyError) { item = try dayKeys() } catch { throw error.failureClass }
        return try item.flatMap { item throws(FailureClass) in try DayKeys.key(id, in: item) }
    }

    /// Whether the period has day keys.
    public var hasDayKeys: Bool { period.days != nil }

    /// Erases the day keys that have expired, and notes a push to the last-resort key.
    public func erase(after push: OpenedPush?, at clock: UnixTime) {
        // What fails now is done after the next push.
        try? eraseDayKeys(at: .now(clock), highestIssuedAt: push?.issuedAt, opened: push?.kid)
    }

    func eraseDayKeys(
        at now: DayKeys.Reading, highestIssuedAt: UnixTime?, opened kid: KeyID? = nil
    ) throws(DeviceKeyError) {
        guard try dayKeys() != nil else { return }
        let ended = try changeDayKeys { days in
            if let kid { days.opened(kid, at: now.clock) }
            return days.erase(at: now, highestIssuedAt: highestIssuedAt)
        }
        for kid in ended { try remove(kid) }
    }

    /// Changes the day keys. An item that is damaged counts as none.
    func changeDayKeys<Result>(
        _ change: (inout DayKeys) throws(DeviceKeyError) -> Result
    ) throws(DeviceKeyError) -> Result {
        // Only app and extension change them, once each.
        for _ in 1...16 {
            let old = try dayKeys()
            var days = old.flatMap(DayKeys.init) ?? DayKeys()
            let result = try change(&days)
            let new = days.item
            if new == old { return result }
            if try replaceDayKeys(old, by: new) { return result }
        }
        throw DeviceKeyError(.failed, "the day keys change whenever they were read")
    }

    /// Makes a key pair in memory and adds it.
    public func make(_ suite: Suite, withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        let key = try DeviceKey.generate(suite, withPSK: withPSK, at: time)
        try add(key)
        return key
    }
}

/// Why the device's keys or the pinned senders can't be read or changed. It contains no key bytes.
public struct DeviceKeyError: DescribedError, Hashable, Sendable {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// The storage can't be read before the first unlock. Retry after it; never make a new key now.
        public static let locked = Code(name: "locked")
        /// The key doesn't exist.
        public static let notFound = Code(name: "notFound")
        /// Another key has the same id, or another set has the same number.
        public static let conflict = Code(name: "conflict")
        /// The stored bytes were changed, or the private half is missing. A retry doesn't help.
        public static let damaged = Code(name: "damaged")
        /// The file or folder is a symbolic link or of the wrong type, belongs to another user (other than root), or can be
        /// read or changed by other users.
        public static let insecure = Code(name: "insecure")
        /// The app has no entitlement for the keychain access group.
        public static let notEntitled = Code(name: "notEntitled")
        /// The system doesn't have the key's suite (`Suite.isAvailable`): the key was made by a later system. A later system
        /// opens its pushes; here, make a key of another suite.
        public static let unsupportedSuite = Code(name: "unsupportedSuite")
        /// The key or set is of the wrong kind.
        public static let unsuitable = Code(name: "unsuitable")
        /// A newer key was registered.
        public static let superseded = Code(name: "superseded")
        /// The set of sender keys has a lower `seq` than the accepted one, or this version of the app pins a lower epoch
        /// than an earlier one did.
        public static let rolledBack = Code(name: "rolledBack")
        /// No pinned publisher signed the set of sender keys.
        public static let notSigned = Code(name: "notSigned")
        /// The signed set is another one than the pinned set, or for another app or another epoch.
        public static let otherSet = Code(name: "otherSet")
        /// The `validUntil` of the signed set has passed, by the device's clock or the `issuedAt` of the accepted set.
        public static let expired = Code(name: "expired")
        /// The system failed: no space, no entropy, or an unexpected status.
        public static let failed = Code(name: "failed")
    }

    /// The kind of failure.
    public let code: Code
    /// What failed, and where.
    public let reason: String

    /// Creates an error.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// - Parameter action: what failed, as the beginning of a sentence.
    init(_ error: any Error, doing action: String) {
        let code: Code =
            switch (error as? KeyError)?.code {
            case .notSigned?: .notSigned
            case .otherSet?, .otherTopic?, .otherEpoch?: .otherSet
            case .rolledBack?: .rolledBack
            case .conflict?: .conflict
            case .expired?: .expired
            case .unsupportedSuite?: .unsupportedSuite
            case .backendFailure?: .failed
            case .some: .unsuitable
            case nil: .failed
            }
        self.init(code, "\(action): \(error)")
    }

    /// The reason.
    public var description: String { reason }

    /// The failure class of a push that needed the key.
    ///
    /// A damaged key will never open a push, so it is `unknownKey`, for which the advice is a new registration. If a new key
    /// wouldn't help, the class is `internalError`.
    public var failureClass: FailureClass {
        switch code {
        case .notFound, .damaged: .unknownKey
        case .locked: .keyLocked
        case .unsupportedSuite: .unsupportedSuite
        default: .internalError
        }
    }
}
