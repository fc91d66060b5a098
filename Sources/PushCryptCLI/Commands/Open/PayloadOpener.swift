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
    init(topic: String, keys: Keyset, device: DeviceID?, senders: TrustedSenders?) throws {
        opener = try Opener(
            topic: topic, keyring: KeysetKeyring(keys, device: device),
            senders: senders.map { .pinned($0) } ?? .unsigned)
        given = GivenKeys(keys: keys, device: device, senders: senders)
    }

    /// - Parameter keys: a FILE or `Keys/NAME`.
    init(
        topic: String, keys: String, device: String?, senders: @autoclosure () throws -> TrustedSenders?,
        _ access: KeyAccess, at time: UnixTime
    ) throws {
        let source = try KeySource(keys, access)
        source.noteSlowClock(at: time)
        let device = try DeviceID(option: device)
        // Also refuses keys that can't open, and a device for keys that aren't shared.
        _ = try source.openingKeyset(device: device)
        try self.init(
            topic: Topic(option: topic).description, keys: source.keyset, device: device, senders: senders())
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

    /// The cause of a failure in one line, as far as the payload and the keys show it without a decryption.
    func reason(for failure: FailureClass, _ payload: [UInt8], at time: UnixTime) -> String? {
        let evidence = Evidence(
            payload: ReceivedPayload(payload), topic: nil, keys: keys, device: device, registration: nil,
            senders: senders.map { .trusted($0) } ?? .unsigned, headers: nil, report: nil, app: nil, time: time,
            given: [])
        if let fault = Diagnosis.visibleCause(of: failure, in: evidence) { return OpeningFailure.reason(fault) }
        if failure == .notSealed { return OpeningFailure.reasons["not-sealed"] }
        guard failure == .undecryptable, evidence.lacksDevice, let kid = evidence.payload.kid else { return nil }
        return "key \(kid) is a shared (master) key, and a push to one device opens only with --device ID"
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

    /// The cause in one line, in the words of the options of `open`.
    static func reason(_ fault: Fault) -> String {
        var cause = reasons[fault.name] ?? fault.cause
        if cause.last == "." { cause.removeLast() }
        // `--trust none` is an option of `diagnose` only.
        let seen = fault.evidence.filter { !$0.hasPrefix("--") }
        return cause.prefix(1).lowercased() + cause.dropFirst()
            + (seen.isEmpty ? "" : " (\(seen.joined(separator: "; ")))")
    }

    fileprivate static let reasons = [
        "sealed-to-another-key": "the push is sealed to a key that --keys doesn't have",
        "key-revoked": "the recipient's key is revoked",
        "key-expired": "the recipient's key has expired",
        "push-not-signed":
            "the push isn't signed, and with --trust only signed pushes are opened: leave --trust out for unsigned ones",
        "signature-unexpected":
            "the push is signed: give the public keys of its sender with --trust, as a keyset (Keys/NAME) or a file",
        "not-sealed": "it has no member \"pushcrypt\": give what `pushcrypt seal` printed",
        "sender-not-pinned": "the push is signed by a key that --trust doesn't have",
        "sender-in-two-sets": "the push is signed by a key that two files of --trust have",
        "sender-revoked": "the sender's key is revoked",
        "sender-expired": "the sender's key has expired, or the signed set of --trust is no longer valid",
    ]
}
