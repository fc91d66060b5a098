import PushCryptCore
import PushCryptExtension
import PushCryptKeysets

/// Opens payloads with the keys of the command line and explains failures.
struct PayloadOpener {
    private let opener: Opener
    private let given: GivenKeys

    /// - Parameters:
    ///   - device: the device whose key is derived from a shared key.
    ///   - senders: nil for unsigned payloads.
    init(topic: String, keys: Keyset, device: DeviceID?, senders: TrustedSenders?, carriers: Set<Carrier>) throws {
        opener = try Opener(
            topic: topic, keyring: KeysetKeyring(keys, device: device),
            senders: senders.map { .pinned($0) } ?? .unsigned, carriers: carriers)
        given = GivenKeys(keys: keys, device: device, senders: senders, places: EnvelopePlaces(carriers))
    }

    /// - Parameter keys: a FILE or `Keys/NAME`.
    init(
        topic: String, keys: String, device: String?, senders: @autoclosure () throws -> TrustedSenders?,
        carriers: Set<Carrier>, _ access: KeyAccess, at time: UnixTime
    ) throws {
        let source = try KeySource(keys, access)
        source.noteSlowClock(at: time)
        let device = try DeviceID(option: device)
        // Also refuses keys that can't open, and a device for keys that aren't shared.
        _ = try source.openingKeyset(device: device)
        try self.init(
            topic: Topic(option: topic).description, keys: source.keyset, device: device, senders: senders(),
            carriers: carriers)
    }

    func open(_ payload: [UInt8], at time: UnixTime) -> Result<OpenedPush, OpeningFailure> {
        opener.opening(payload, at: time).mapError { error in
            let reason = error.reason(at: time) ?? given.reason(for: error.failure, payload, at: time)
            return OpeningFailure(failure: error.failure, reason: reason)
        }
    }
}

extension Opener.OpeningError {
    /// The times of a message that isn't fresh; nil for another failure.
    func reason(at time: UnixTime) -> String? {
        times.map { "it was sealed at \($0.issuedAt), expires at \($0.expiresAt), and the time here is \(time)" }
    }
}

/// The keys of the command line.
struct GivenKeys {
    let keys: Keyset
    /// The device whose key is derived from a shared key.
    let device: DeviceID?
    /// nil for unsigned payloads.
    let senders: TrustedSenders?
    let places: EnvelopePlaces

    /// The cause of a failure in one line, as far as the payload and the keys show it without a decryption.
    func reason(for failure: FailureClass, _ payload: [UInt8], at time: UnixTime) -> String? {
        let received = ReceivedPayload(payload, at: places)
        if let finding = Diagnosis.unreadable(received, keys: keys, at: time) { return OpeningFailure.reason(finding) }
        let signer = received.skid.map { "payload: signed by key \($0)" } ?? ""
        switch failure {
        case .malformed:
            return received.root.map { AlertText.isVisible(in: $0["aps"]?["alert"]) } == false
                ? "the push has no alert with a visible text" : nil
        case .notSealed where received.request != nil:
            return "it is a request to a service: give the payload that arrives, as `seal` prints it without --request"
        case .notSealed: return "it has no member \"pushcrypt\": give what `pushcrypt seal` printed"
        case .unknownKey: return unknownKey(received, signer)
        case .keyRevoked, .keyExpired:
            if let kid = received.kid, let ending = keys.ending(of: kid, at: time) {
                return "the recipient's key \(failure == .keyRevoked ? "is revoked" : "has expired") (keys: \(ending))"
            }
            return failure == .keyRevoked
                ? "the sender's key is revoked (\(signer))"
                : "the sender's key has expired, or the signed set of --trust is no longer valid (\(signer))"
        case .undecryptable where received.skid == nil && senders != nil:
            return
                "the push isn't signed, and with --trust only signed pushes are opened: leave --trust out for "
                + "unsigned ones"
        case .undecryptable:
            guard device == nil, let kid = received.kid, let record = keys.entry(kid)?.record, record.kind == .shared,
                !record.isDeviceKey
            else { return nil }
            return "key \(kid) is a shared (master) key, and a push to one device opens only with --device ID"
        default: return nil
        }
    }

    /// Which of the two keys of a payload isn't known.
    private func unknownKey(_ payload: ReceivedPayload, _ signer: String) -> String? {
        if let kid = payload.kid, keys.entry(kid) == nil {
            return
                "the push is sealed to a key that --keys doesn't have (payload: sealed to key \(kid); keys: they are "
                + "\(Facts.list(keys.keyIDs.map(\.description))))"
        }
        guard let skid = payload.skid else { return nil }
        guard let senders else {
            return
                "the push is signed: give the public keys of its sender with --trust, as a keyset (Keys/NAME) or a "
                + "file "
                + "(\(signer))"
        }
        guard !senders.keyIDs.contains(skid) else {
            return "the push is signed by a key that two files of --trust have (\(signer))"
        }
        return "the push is signed by a key that --trust doesn't have (\(signer); trust: the app pins "
            + "\(Facts.list(senders.keyIDs.map(\.description))))"
    }
}

/// Why a payload wasn't opened. The reason contains only what everyone who has the payload can see, what was given to open it,
/// and the times of a message that was opened: all failures of decryption look alike.
struct OpeningFailure: Error {
    let failure: FailureClass
    /// nil if nothing but the class can be said.
    let reason: String?

    /// `not opened: CLASS: REASON`
    var text: String { "not opened: \(failure)" + (reason.map { ": \($0)" } ?? "") }

    /// The cause in one line.
    fileprivate static func reason(_ finding: Finding) -> String {
        let cause = finding.cause.last == "." ? finding.cause.dropLast() : finding.cause[...]
        return cause.prefix(1).lowercased() + cause.dropFirst() + " (\(finding.evidence.joined(separator: "; ")))"
    }
}
