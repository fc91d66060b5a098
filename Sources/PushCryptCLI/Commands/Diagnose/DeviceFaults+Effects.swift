import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// The finding for a failure that the device has counted or left in the placeholder.
struct DeviceEffect {
    let name: String
    let advice: String
    /// Whether nothing is wrong, so that it is a note.
    var isNormal = false
    /// An input that shows more, and the sentence after its option.
    var asks: (input: EvidenceInput, sentence: String)?
    /// Whether the finding names the key, in the place of "The key".
    var namesKey = false

    static func detector(_ failure: FailureClass.Defined) -> Detector {
        { evidence in
            guard case .effect(let effect) = failure.text.finding else { return nil }
            return effect.fault(FailureClass(failure), evidence)
        }
    }

    private func fault(_ failure: FailureClass, _ evidence: Evidence) -> Fault? {
        let seen = evidence.seen(failure)
        guard !seen.isEmpty else { return nil }
        let more = asks.map { asks in evidence.asking(for: asks.input) { " \($0) \(asks.sentence)" } } ?? ""
        let key = namesKey ? "The \(Self.endedKey(failure, evidence))" : "The key"
        return Fault(
            isNormal ? .note : evidence.hasFailed(failure) ? .error : .warning, name,
            failure.meaning.replacing("The key", with: key), seen, do: advice + more, symptom: .failure(failure))
    }

    /// The key that ended: the device's or the sender's, as far as the inputs tell them apart.
    private static func endedKey(_ failure: FailureClass, _ evidence: Evidence) -> String {
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

    /// The other failures: classes of the app's own, and pushes to other keys.
    static func others(_ evidence: Evidence) -> Fault? {
        let names = Set((evidence.report?.statistics?.failures ?? [:]).keys)
            .union([evidence.payload.reportedFailure?.rawValue].compactMap(\.self))
        let others = names.sorted().map(FailureClass.init).filter { failure in
            guard !evidence.seen(failure).isEmpty else { return false }
            return switch failure.defined?.text.finding {
            case .effect, .ofStages: false
            case .ofPush: !evidence.hasFailed(failure)
            case nil: true
            }
        }
        guard !others.isEmpty else { return nil }
        let isOwn = others.contains { $0.defined == nil }
        let isOfOthers = others.contains { $0.defined != nil }
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
