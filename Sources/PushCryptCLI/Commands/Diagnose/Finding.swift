import PushCryptCore

/// Something that keeps a push from being shown as it should be: one row of a diagnosis.
struct Finding: Encodable {
    enum Severity: String, Encodable, CaseIterable {
        /// No push is shown as it should be, or the keys or the request are refused.
        case error
        /// Some pushes aren't, or soon none will be.
        case warning
        /// Nothing has to be done.
        case note

        var style: TerminalText.Style {
            switch self {
            case .error: .bad
            case .warning: .warning
            case .note: .faint
            }
        }
    }

    /// The stable names, for scripts and for docs/diagnose.md.
    enum Code: String, Encodable, CaseIterable {
        case payloadMissing = "payload-missing"
        case payloadTruncated = "payload-truncated"
        case payloadNotJSON = "payload-not-json"
        case payloadWrapped = "payload-wrapped"
        case envelopeChanged = "envelope-changed"
        case sealedChanged = "sealed-changed"
        case versionUnsupported = "version-unsupported"
        case notSealed = "not-sealed"
        case alertMissing = "alert-missing"
        case mutableContentMissing = "mutable-content-missing"
        case payloadTooLarge = "payload-too-large"
        case valueIgnored = "value-ignored"
        case liveActivity = "live-activity"
        case demoKey = "demo-key"
        case topicWrong = "topic-wrong"
        case headerWrong = "header-wrong"
        case apnsRefused = "apns-refused"
        case registrationUnreadable = "registration-unreadable"
        case registrationUnsupportedSuite = "registration-unsupported-suite"
        case privateKeyRegistered = "private-key-registered"
        case inputsContradict = "inputs-contradict"
        case storageFailed = "storage-failed"
        case keyNotOnDevice = "key-not-on-device"
        case keyEnded = "key-ended"
        case pskDiffers = "psk-differs"
        case sealedToAnotherDevice = "sealed-to-another-device"
        case senderNotTrusted = "sender-not-trusted"
        case senderSetUnusable = "sender-set-unusable"
        case signatureInvalid = "signature-invalid"
        case messageMalformed = "message-malformed"
        case undecryptable = "undecryptable"
        case clockWrong = "clock-wrong"
        case pushExpired = "push-expired"
        case extensionMisconfigured = "extension-misconfigured"
        case entitlementsWrong = "entitlements-wrong"
        case fileUnreadable = "file-unreadable"
        case alertsNotAllowed = "alerts-not-allowed"
        case extensionNeverRan = "extension-never-ran"
        case deviceFailure = "device-failure"
        case pushSuppressed = "push-suppressed"
    }

    let severity: Severity
    let name: Code
    let cause: String
    /// What was read, and where. It contains no plaintext and no key, because people pass it on.
    let evidence: [String]
    let advice: String

    init(_ severity: Severity, _ name: Code, _ cause: String, _ evidence: [String], do advice: String) {
        (self.severity, self.name, self.cause, self.evidence) = (severity, name, cause, evidence)
        self.advice = advice
    }

    /// An error.
    init(_ name: Code, _ cause: String, _ evidence: [String], do advice: String) {
        self.init(.error, name, cause, evidence, do: advice)
    }
}

/// Looks for one cause in the facts; nil if it isn't there. No check knows of another one.
typealias Check = @Sendable (Facts) -> Finding?

/// All checks in the order of certainty: the first error is the cause, and later ones may be its effects.
enum Diagnosis {
    /// Why the payload can't be read as a sealed push, whatever the keys are.
    private static let unreadable: [Check] = PayloadChecks.document + PayloadChecks.envelope

    private static let checks: [Check] =
        unreadable + KeyChecks.record + PayloadChecks.notification + RequestChecks.all + AppChecks.all
        + KeyChecks.device + SenderChecks.all + TimeChecks.all + KeyChecks.opening + DeviceChecks.all

    /// The findings, errors first.
    static func findings(_ facts: Facts) -> [Finding] {
        let found = checks.compactMap { $0(facts) }
        return Finding.Severity.allCases.flatMap { severity in found.filter { $0.severity == severity } }
    }

    /// Why the payload can't be read as a sealed push; nil if it can.
    static func unreadable(_ payload: ReceivedPayload, keys: Keyset, at time: UnixTime) -> Finding? {
        let facts = Facts(payload: payload, keys: keys, time: time)
        return unreadable.lazy.compactMap { $0(facts) }.first { $0.severity == .error }
    }
}
