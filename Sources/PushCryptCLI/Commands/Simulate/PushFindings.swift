import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator

/// Details about a push that a phone doesn't report: which key, text or attachment was missing.
struct PushFindings {
    let settings: SimulatedPhones.Settings
    let payload: [UInt8]
    let reception: SimulatedDevice.Reception
    /// The push with the payload that was sealed; nil if it isn't known.
    let opened: OpenedPush?
    let attachmentFailures: [(identifier: String, error: any Error)]

    private var sealed: JSONText? { opened.flatMap { try? JSONText($0.payload) } }

    /// The alert whose texts the extension looks up: the sealed one, or with --unsealed that of a push that isn't sealed.
    private var alert: JSONValue? {
        let isUnsealed = reception.isUnsealed || settings.showsUnsealed && reception.failure == .notSealed
        return (isUnsealed ? (try? JSONText(payload)) : sealed)?.root["aps"]?["alert"]
    }

    /// What is wrong with the texts by key.
    var textFlaws: [TextFlaw] { TextFlaw.all(in: alert, settings.strings) }

    /// The keys that the app's texts don't have, and that have no literal text in their place.
    var missingTexts: [String] { textFlaws.filter { $0.reason == nil }.map(\.key) }

    /// What the user may not see in a push that is restored: which texts need the app's.
    var textNotes: [String] {
        let replaced = TextFlaw.replacedKeys(in: alert, settings.strings)
        guard settings.strings != nil else {
            return missingTexts.isEmpty && replaced.isEmpty ? [] : ["the phone has no texts of the app: give --strings"]
        }
        return replaced.map { "the app's texts don't have \($0): the literal text beside it is shown" }
    }

    /// What the push asks of the device beside the notification, and members that have no effect.
    func notes(takingBack numbers: [Int]) -> [String] {
        let visible = (try? JSONText(payload)).map { PayloadWarning.all(in: $0.root, isOuter: isSealed) } ?? []
        // A push that was opened shows the sealed payload. The visible one only has to arrive.
        let opening = sealed.map { PayloadWarning.all(in: $0.root) + visible.filter { $0.code == .outerNull } }
        let warnings = (opening ?? visible).map(\.description)
        guard let opened else {
            let hasFiles = !settings.plainMembers.isEmpty || !settings.files.isEmpty
            return warnings
                + (reception.isUnsealed && hasFiles
                    ? ["shown without attachments: the extension fetches none for a push that isn't sealed"] : [])
        }
        var notes = numbers.map { "takes back push \($0)" }
        let others = opened.retractedMessageIDs.count - numbers.count
        if others > 0 {
            notes.append(
                "takes back \(NumberText.counted(others, "message")) that this phone hasn't got from this sender")
        }
        if opened.isQuiet { notes.append("quiet: an app with the entitlement for filtering shows nothing") }
        if let increment = opened.badgeIncrement { notes.append("adds \(increment) to the badge") }
        if opened.isSelfTest { notes.append("a self-test: the extension reports that it works") }
        notes += warnings
        for name in settings.plainMembers {
            guard let member = sealed?.root.member(name), member.kind != .string else { continue }
            notes.append("the member \(name) is not a string, so it is no address of an attachment")
        }
        return notes
    }

    /// Whether the payload has the envelope of a sealed push, at any place.
    var isSealed: Bool { ReceivedPayload(payload).envelope != nil }

    var isOfLiveActivity: Bool { (try? JSONText(payload))?.root["aps"]?.isOfLiveActivity == true }

    /// Why APNs refuses the request: the topic that it needs, or what is wrong with its payload, and where.
    ///
    /// - Parameter headers: those of the line.
    func refusal(_ headers: [String: String]) -> String? {
        if reception.refusal == .topicNotForToken {
            let type = headers["apns-push-type"] ?? "alert"
            let needed = PushHeaders.topic(of: settings.topic, pushType: type)
            return
                "apns-topic is \(headers["apns-topic"] ?? settings.topic), and a push of the type \(type) to this phone's app "
                + (needed.map { "needs \($0)" } ?? "has no topic")
        }
        guard reception.refusal == .invalidPayload else { return nil }
        let text: JSONText
        do { text = try JSONText(payload) } catch { return "\(error)" }
        guard text.root.kind != .string else { return "it is a string: the JSON object in it is needed" }
        guard text.root.kind == .object else { return "it is \(text.root.kindText): a JSON object is needed" }
        guard let aps = text.root["aps"] else { return "it has no member aps" }
        return aps.kind == .object ? nil : "its member aps isn't an object"
    }

    /// Why the push wasn't restored, more exactly than its class; nil if nothing more is known.
    var reason: String? {
        switch reception.failure {
        case .malformed?, .notSealed?: textReason ?? reception.failure.flatMap(placeReason)
        case .unknownKey?, .undecryptable?, .keyExpired?, .keyRevoked?: reception.failure.flatMap(keyReason)
        case .attachmentFailed: attachmentReason
        case .expired?, .notYetValid?: timeReason
        default: nil
        }
    }

    private var textReason: String? {
        let keys = missingTexts.joined(separator: ", ")
        let missing =
            settings.strings == nil
            ? "the payload has only keys of the app's texts (\(keys)), and the phone has no texts: give --strings"
            : "the payload has only keys, and the app's texts don't have them: \(keys)"
        let reasons = (keys.isEmpty ? [] : [missing]) + textFlaws.compactMap(\.reason)
        guard let first = reasons.first?.first else { return nil }
        return first.uppercased() + reasons.joined(separator: "; ").dropFirst() + "."
    }

    /// Where the envelope is, if it isn't where the app looks for it.
    private func placeReason(_ failure: FailureClass) -> String? {
        isSealed ? settings.given?.reason(for: failure, payload, at: settings.time).map(Self.sentence) : nil
    }

    /// What the payload and the given keys show.
    private func keyReason(_ failure: FailureClass) -> String? {
        guard let given = settings.given else { return "The phone has no keys: give --keys." }
        return given.reason(for: failure, payload, at: settings.time).map(Self.sentence)
    }

    private var timeReason: String? {
        guard case .failure(let error)? = settings.opener?.opening(payload, at: settings.time) else { return nil }
        return error.reason(at: settings.time).map(Self.sentence)
    }

    private static func sentence(_ reason: String) -> String {
        reason.prefix(1).uppercased() + reason.dropFirst() + "."
    }

    private var attachmentReason: String? {
        let isOffload = reception.report?.stageFailures.contains { $0.stage == "offload" } == true
        let reasons =
            attachmentFailures.map { text(of: $0.identifier, $0.error) }
            + (isOffload ? ["The longer payload couldn't be fetched, or isn't the one that was sealed."] : [])
        return reasons.isEmpty ? nil : reasons.joined(separator: " ")
    }

    /// - Parameter identifier: `member.NAME` for a file whose address is in a member.
    private func text(of identifier: String, _ error: any Error) -> String {
        let attachment =
            identifier.hasPrefix("member.")
            ? "The attachment of \(identifier.dropFirst("member.".count))" : "The attachment \(identifier)"
        guard let error = error as? TransferError else { return "\(attachment) wasn't complete in time." }
        return attachment
            + (error.code == .status ? " isn't on the simulated network." : " was refused: \(error.reason).")
    }

    /// The members of the sealed payload with an address of `--serve` that `--attachment-member` doesn't name.
    var forgottenMembers: [String] {
        guard let root = sealed?.root else { return [] }
        let alert = root["aps"]?["alert"]?.members.map { ("aps.alert." + $0.name, $0.value) } ?? []
        let members = root.members.map { ($0.name, $0.value) } + alert
        return members.compactMap { name, value in
            guard let address = value.string, settings.files.contains(where: { $0.address == address }) else {
                return nil
            }
            return settings.plainMembers.contains(name) ? nil : name
        }
    }
}
