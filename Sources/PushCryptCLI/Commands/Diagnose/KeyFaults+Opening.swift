import PushCryptCore
import PushCryptExtension

/// Faults that opening the push with the device's key shows.
extension KeyFaults {
    static func sealedForAnotherTopic(_ evidence: Evidence) -> Fault? {
        let name = evidence.trial?.differences?.lazy.compactMap { difference -> String? in
            if case .topic(let name) = difference { name } else { nil }
        }.first
        guard let name, let expected = evidence.expectedTopic else { return nil }
        return Fault(
            "sealed-for-another-topic", "The push was sealed for another app than the one that received it.",
            ["the push opens with the topic \(name)", "the app's topic is \(expected)"]
                + evidence.counted(.undecryptable),
            do:
                "Use the bundle identifier of the app that receives the push as the topic where your backend seals. "
                + "Builds with another bundle identifier, such as a beta, need their own topic.")
    }

    /// The device has the key, and no assumption explains why the push doesn't open.
    static func undecryptable(_ evidence: Evidence) -> Fault? {
        let hasFailed = evidence.trial.map { $0.differences == nil && !$0.lacksDevice } ?? false
        let counter = evidence.recent(.undecryptable).flatMap { evidence.concernsThisPush($0) ? $0 : nil }
        guard
            hasFailed || (counter != nil && evidence.trial == nil) || evidence.payload.reportedFailure == .undecryptable
        else { return nil }
        let suite = evidence.trial?.suite.rawValue ?? evidence.reportedKey?.suite
        let isShared = suite == Suite.shared.rawValue
        let reasons =
            isShared
            ? "it was sealed for another device id or to the shared key itself, for another topic, or it was changed "
                + "or cut off on the way"
            : "it was sealed for another topic (the extension's bundle identifier, a beta's), without or with another "
                + "psk, it isn't signed as the app demands, or it was changed or cut off on the way"
        return Fault(
            "undecryptable", "The device has the key, but the push doesn't open: \(reasons).",
            (hasFailed ? ["keys: the push doesn't open, whatever is assumed"] : []) + evidence.counted(.undecryptable),
            do:
                "Compare the topic of your backend with the app's bundle identifier; store the whole registration "
                + "record; send the sealed bytes unchanged, and compare their number with what was sealed."
                + narrowing(evidence),
            isSymptom: true)
    }

    /// Names the inputs that weren't given and can show more.
    private static func narrowing(_ evidence: Evidence) -> String {
        let inputs = [
            ("--topic", evidence.topic != nil || evidence.report != nil),
            ("--keys of a test device", evidence.keys != nil),
            ("--registration", evidence.registration != nil),
            ("--trust", evidence.senders != nil || evidence.report?.senders != nil),
            ("--report", evidence.report != nil),
        ].filter { !$0.1 }.map(\.0)
        guard let last = inputs.last else { return "" }
        let others = inputs.dropLast().joined(separator: ", ")
        return " " + (others.isEmpty ? "\(last) narrows" : "\(others) and \(last) narrow") + " it down."
    }

    static func notAMessage(_ evidence: Evidence) -> Fault? {
        guard let trial = evidence.trial, trial.differences != nil, !trial.isWellFormed else { return nil }
        return Fault(
            "message-malformed",
            "The push opens, but what was sealed isn't a notification: it lacks an alert with text, or the header "
                + "that sealing adds.",
            ["the sealed message: no valid aps.alert and pushcrypt"],
            do:
                "Seal the APNs payload as you would send it without encryption, with the library or the tool, not "
                + "with HPKE alone."
        )
    }
}
