package import PushCryptPrimitives

/// The key that a sender seals to: a device's public key, with its psk if there is one, or a shared key.
///
/// Keep the value for as long as you send to the device: the key is parsed and checked only once.
public struct Recipient: Sendable {
    /// The key's id, which is sent in the envelope.
    public let kid: KeyID
    /// The suite of messages to the key.
    public let suite: Suite
    /// The device of a shared key, or the id that was given with a public key. The message ids of a campaign depend on it.
    public let device: DeviceID?
    /// The day keys of the device, of which a sealer uses that of the day; nil if its record has none.
    package let deviceSet: DeviceSet?
    /// The id of the key in the ids of campaigns, which don't change with the day.
    let campaignKeyID: KeyID
    let scheme: EncryptionScheme<any EncapsulationKey>
    package let backend: any CryptoBackend

    /// Reads the JWK of a recipient's public key, as an app uploads it, or of a shared key.
    ///
    /// - Parameter jwk: UTF-8 JSON. A private key of a key pair is refused, because a backend must not have it.
    /// - Throws: `KeyError`.
    public init(jwk: some Collection<UInt8>) throws { try self.init(jwk: jwk, backend: DefaultBackend.shared) }

    package init(jwk: some Collection<UInt8>, backend: any CryptoBackend) throws {
        let keyset = try Keyset(json: Array(jwk), backend: backend)
        // Before the set's times and number of keys: advice about them would be wrong for a set that only signs.
        guard keyset.kind == .recipient || keyset.kind == .shared else {
            throw KeyError(
                .wrongKind, "\(keyset.kind.rawValue) keys only sign: seal to a registration record or a shared key")
        }
        try self.init(try keyset.onlyEntry())
    }

    /// - Parameter id: a master derives this device's key; a device's key must be this device's. The id of a public key is
    ///   only a name.
    /// - Throws: `KeyError` with `wrongKind`, `pskMissing`, `wrongDevice`.
    package init(_ entry: Keyset.Entry, device id: DeviceID? = nil) throws {
        try self.init(entry, device: id, campaignKeyID: entry.record.kid, name: nil)
    }

    private init(_ entry: Keyset.Entry, device id: DeviceID?, campaignKeyID: KeyID, name: [UInt8]?) throws {
        let record = try entry.forDevice(id).record
        guard !record.isPrivateAsymmetric else {
            throw KeyError(.wrongKind, "key \(record.kid) is a private key: seal to its public key")
        }
        if entry.demandsPSK, !record.hasPSK {
            throw KeyError(
                .pskMissing, "key \(record.kid) demands a psk: use the registration record, not the published set")
        }
        kid = record.kid
        backend = record.backend
        deviceSet = record.deviceSet
        self.campaignKeyID = campaignKeyID
        switch record.material {
        case .recipient(let publicKey, _, let psk):
            suite = Suite(publicKey.type)
            device = id
            scheme = .hpke(
                try HPKEScheme(publicKey, publicKey, psk: psk, kid: record.kid, name: name, backend: backend))
        case .shared(let secret, let owner):
            suite = .shared
            device = owner
            scheme = .shared(SharedSecretScheme(secret: secret, backend: backend))
        case .sender, .publisher:
            throw KeyError(
                .wrongKind,
                "key \(record.kid) is a \(record.kind.rawValue) key, which only signs: a push is sealed to a recipient key or a "
                    + "shared key")
        }
    }
}

extension Recipient: CustomStringConvertible, CustomReflectable {
    /// The id and the suite of the key.
    public var description: String { "recipient \(kid), \(suite)" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Recipient {
    /// The recipient with the key of the day; nil if the device has no set, or the set has no key for that day.
    ///
    /// - Throws: `KeyError` for a key that can't be used.
    package func ofDay(at time: UnixTime) throws -> Recipient? {
        try deviceSet?.key(at: time).map {
            // R stays that of the record: a record that lists the day keys of another device must not forward signed messages to it.
            let name = try scheme.recipientName(backend: backend)
            return try Recipient(Keyset.Entry($0, KeyLifecycle()), device: device, campaignKeyID: kid, name: name)
        }
    }

    /// Whether sealing needs a secret of app and backend: a psk, or a shared key.
    package var hasSecret: Bool { !proof(isSigned: false).isEmpty }

    /// Requires a secret of app and backend: a psk, or a shared key.
    ///
    /// - Throws: `KeyError` with `pskMissing`.
    package func requirePSK() throws(KeyError) {
        guard !hasSecret else { return }
        throw KeyError(
            .pskMissing,
            "key \(kid) has no psk: everyone with the public key could seal to it. Use the whole registration record that "
                + "the app uploaded; if its psk was removed on the way, the device can't open the push")
    }

    /// Whether this is a shared key itself and not the key of a device: everyone with the shared key can open what is sealed to
    /// it.
    package var isBareSharedKey: Bool { suite == .shared && device == nil }

    /// Requires a suite of the rank of `minimum` or above.
    ///
    /// - Throws: `KeyError` with `suiteTooLow`.
    package func requireSuite(atLeast minimum: Suite) throws(KeyError) {
        guard !suite.isAtLeast(minimum) else { return }
        throw KeyError(
            .suiteTooLow,
            "key \(kid) has suite \(suite.rawValue) (\(suite)), and at least suite \(minimum.rawValue) (\(minimum)) is required: "
                + "seal to a key of that suite, which the device must make and register, or require less")
    }
}

extension Keyset {
    /// The recipient to seal to at `time`: the primary key, which must not be private.
    ///
    /// - Parameter allowsLowerSuite: whether the newest key's suite may rank below that of an older key. Pass true only if an
    ///   operator has decided it: someone who can change the set could otherwise make all further pushes easier to open.
    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind`, `pskMissing`, `suiteTooLow`.
    public func recipient(at time: UnixTime, allowsLowerSuite: Bool = false) throws -> Recipient {
        var keyset = self
        keyset.allowsLowerSuite = keyset.allowsLowerSuite || allowsLowerSuite
        return try Recipient(keyset.sealingEntry(at: time))
    }

    /// The key of a set with one key.
    /// - Throws: `KeyError` with `malformed` for several keys or one whose end is set, `noKeySeals` for one that doesn't seal yet,
    ///   or was destroyed.
    func onlyEntry() throws -> Entry {
        guard entries.count == 1 else {
            throw KeyError(.malformed, "the set has \(entries.count) keys: use Keyset, which chooses one by time")
        }
        let lifecycle = entries[0].lifecycle
        guard lifecycle.retiresAt == nil, lifecycle.expiresAt == nil, lifecycle.revokedAt == nil else {
            throw KeyError(.malformed, "key \(keyIDs[0]) has an end: use Keyset, which checks the time")
        }
        return try sealingEntry(at: .now)
    }

    /// - Throws: `KeyError` with `noKeySeals`, `suiteTooLow`.
    package func sealingEntry(at time: UnixTime) throws -> Entry {
        if !allowsLowerSuite, let (newest, older) = lowerNewestKey {
            throw KeyError(
                .suiteTooLow,
                "the newest key of the set, \(newest.kid), has \(newest.algorithm), which ranks below \(older.algorithm) of "
                    + "key \(older.kid): a set never goes back unless an operator allows it")
        }
        guard let entry = primary(at: time) else {
            throw KeyError(.noKeySeals, "none of the \(keyIDs.count) keys seals at \(time)")
        }
        return entry
    }
}

/// The key that a recipient opens with: its private key, with its psk if there is one, or a shared key.
public struct RecipientKey: Sendable {
    /// The key's id, which is in the envelope.
    public let kid: KeyID
    /// The suite of messages to the key.
    public let suite: Suite
    let scheme: EncryptionScheme<any DecapsulationKey>
    let backend: any CryptoBackend

    /// - Parameters:
    ///   - id: a master derives this device's key; a device's key must be this device's. The id of a private key is only a name.
    ///   - name: R of the record of a day key; nil for other keys.
    /// - Throws: `KeyError` with `wrongKind` for a public key or a sender's, `pskMissing`, `wrongDevice`.
    package init(_ entry: Keyset.Entry, device id: DeviceID? = nil, name: [UInt8]? = nil) throws {
        let record = try entry.forDevice(id).record
        if entry.demandsPSK, !record.hasPSK {
            throw KeyError(.pskMissing, "key \(record.kid) demands a psk that its record doesn't contain")
        }
        kid = record.kid
        backend = record.backend
        switch record.material {
        case .recipient(let publicKey, let privateKey?, let psk):
            suite = Suite(publicKey.type)
            scheme = .hpke(
                try HPKEScheme(privateKey, publicKey, psk: psk, kid: record.kid, name: name, backend: backend))
        case .shared(let secret, _):
            suite = .shared
            scheme = .shared(SharedSecretScheme(secret: secret, backend: backend))
        case .recipient:
            throw KeyError(.wrongKind, "key \(record.kid) is a public key: opening needs its private key")
        case .sender, .publisher:
            throw KeyError(
                .wrongKind,
                "key \(record.kid) is a \(record.kind.rawValue) key, which only signs: a push is opened with a recipient key or "
                    + "a shared key")
        }
    }
}

extension RecipientKey: CustomStringConvertible, CustomReflectable {
    /// The id and the suite of the key.
    public var description: String { "key \(kid) of a recipient, \(suite)" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
