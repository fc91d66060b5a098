import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// A failure that the device has counted or left in the placeholder.
struct DeviceEffect {
    let failure: FailureClass
    let name: String
    let cause: String
    let advice: String
    /// Whether nothing is wrong, so that it is a note.
    var isNormal = false
    /// An input that shows more, and the sentence after its option.
    var asks: (input: EvidenceInput, sentence: String)?
    /// Whether `cause` says what happened to a key, which stands before it.
    var isOfKey = false

    static let all: [DeviceEffect] = [
        DeviceEffect(
            failure: .notSealed, name: "device-counted-unsealed",
            cause: "The device received a push that wasn't sealed, or lost its member \"pushcrypt\" on the way.",
            advice: "Compare what your backend sends with what the device receives: a relay may drop members."),
        DeviceEffect(
            failure: .malformed, name: "device-counted-malformed",
            cause:
                "The device received a push that was changed on the way, or whose sealed message isn't a notification.",
            advice:
                "Compare what the device receives with the sealed payload; give it to this command.",
            asks: (.keys, "shows whether the sealed message is right.")),
        DeviceEffect(
            failure: .unsupportedVersion, name: "device-counted-newer-version",
            cause: "The device received a push of another version than its app knows.", advice: "Update the app."),
        DeviceEffect(
            failure: .unknownKey, name: "device-counted-unknown-key",
            cause: "The device doesn't have the key that the push was sealed to, or doesn't know the sender's key.",
            advice:
                "Compare the backend's record and its sender keys with the device's. Usually the app must register again.",
            asks: (.report, "lists the device's keys.")),
        DeviceEffect(
            failure: .keyLocked, name: "device-counted-locked",
            cause: "A push arrived before the device's first unlock after a restart: its keys were locked.",
            advice: "Nothing: this is normal until the user unlocks the device. Later pushes are restored.",
            isNormal: true),
        DeviceEffect(
            failure: .keyExpired, name: "device-counted-expired-key",
            cause: "had expired.",
            advice: "Let the app register again, and check that it gets a valid set of sender keys.",
            isOfKey: true),
        DeviceEffect(
            failure: .keyRevoked, name: "device-counted-revoked-key",
            cause: "was revoked.",
            advice: "Seal to the newest record of the device, and sign with the current sender key.",
            isOfKey: true),
        DeviceEffect(
            failure: .unsupportedSuite, name: "device-counted-unsupported-suite",
            cause: "The device has a key of a suite that its system doesn't have: suite 3 needs iOS 26.",
            advice: "Let the app make a key of another suite and register again."),
        DeviceEffect(
            failure: .retracted, name: "device-counted-retracted",
            cause: "The sender took the message back before it was shown.", advice: "Nothing: this was asked for.",
            isNormal: true),
        DeviceEffect(
            failure: .timedOut, name: "extension-timed-out",
            cause: "The extension didn't finish in time, about 25 seconds.",
            advice: "Look for slow attachments and slow stages of the app; give them shorter time limits."),
        DeviceEffect(
            failure: .internalError, name: "extension-set-up-failed",
            cause: "The extension couldn't be set up, or couldn't reach its keys.",
            advice:
                "Check that the extension's entitlements name the same app group and keychain group as the app's, and "
                + "that its resources contain sender-pins.json.",
            asks: (.app, "examines the project.")),
    ]

    func fault(_ evidence: Evidence) -> Fault? {
        let seen = evidence.seen(failure)
        guard !seen.isEmpty else { return nil }
        let more = asks.map { asks in evidence.asking(for: asks.input) { " \($0) \(asks.sentence)" } } ?? ""
        let cause = (isOfKey ? "The \(endedKey(evidence)) " : "") + cause
        return Fault(
            isNormal ? .note : evidence.hasFailed(failure) ? .error : .warning, name, cause, seen, do: advice + more,
            symptom: .failure(failure))
    }

    /// The key that ended: the device's or the sender's, as far as the inputs tell them apart.
    private func endedKey(_ evidence: Evidence) -> String {
        let kid = evidence.recent(failure)?.lastKid ?? evidence.payload.kid?.description
        let device = "device's key" + (kid.map { " \($0)" } ?? "")
        let skid = evidence.payload.skid?.description
        if let skid, kid == skid { return "sender's key \(skid)" }
        guard kid != nil, kid == evidence.payload.kid?.description else { return "\(device) or the sender's key" }
        guard let skid else { return device }
        let opening = [KeyState.pending, .primary, .retiring].map(\.description)
        if opening.contains(evidence.reportedKey?.state ?? "") { return "sender's key \(skid)" }
        return evidence.report?.senders?.kids?.contains(skid) == true ? device : "\(device) or the sender's key \(skid)"
    }

    /// The failures that have a finding of their own if they are this push's.
    private static let ofThisPush: [FailureClass] = [.undecryptable, .expired, .notYetValid, .replayed]

    /// The other failures: classes of the app's own, and pushes to other keys.
    static func others(_ evidence: Evidence) -> Fault? {
        let names = Set((evidence.report?.statistics?.failures ?? [:]).keys)
            .union([evidence.payload.reportedFailure?.rawValue].compactMap(\.self))
            .subtracting((all.map(\.failure) + [.attachmentFailed]).map(\.rawValue))
        let others = names.sorted().map(FailureClass.init).filter {
            !evidence.seen($0).isEmpty && !(ofThisPush.contains($0) && evidence.hasFailed($0))
        }
        guard !others.isEmpty else { return nil }
        let isOwn = others.contains { !ofThisPush.contains($0) }
        let isOfOthers = others.contains { ofThisPush.contains($0) }
        return Fault(
            others.contains(where: evidence.hasFailed) ? .error : .warning, "device-counted-other",
            [
                isOwn ? "A push failed with a class of the app's own." : nil,
                isOfOthers ? "Pushes to another key failed." : nil,
            ].compactMap(\.self).joined(separator: " "),
            others.prefix(5).flatMap(evidence.seen),
            do: [
                isOwn ? "Look for the class in the code of the app's keys and senders." : nil,
                isOfOthers ? "Give one of those pushes to this command." : nil,
            ].compactMap(\.self).joined(separator: " "))
    }
}
