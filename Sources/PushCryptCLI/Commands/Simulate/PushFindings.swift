import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator

/// Details about a push that a phone doesn't report: which key, text or attachment was missing.
struct PushFindings {
    let settings: SimulatedPhones.Settings
    let payload: [UInt8]
    let reception: SimulatedDevice.Reception
    /// The payload that was sealed; nil if it isn't known.
    let sealed: [UInt8]?
    let attachmentFailures: [(identifier: String, error: any Error)]

    /// The keys of the sealed alert that the app's texts don't have, and that have no literal text in their place.
    var missingTexts: [String] {
        guard let sealed, let content = NotificationContent(unmodified: sealed) else { return [] }
        return [content.title, content.subtitle, content.body].compactMap { text in
            guard let key = text.locKey, !key.isEmpty, settings.strings?.string(for: key) == nil else { return nil }
            return NotificationContent.Text(literal: text.literal).isEmpty ? key : nil
        }
    }

    /// Why APNs refuses an invalid payload: what is wrong, and where.
    var refusal: String? {
        guard reception.refusal == .invalidPayload else { return nil }
        let text: JSONText
        do { text = try JSONText(payload) } catch { return "\(error)" }
        guard let aps = text.root["aps"] else { return "it has no member aps" }
        return aps.kind == .object ? nil : "its member aps isn't an object"
    }

    /// Why the push wasn't restored, more exactly than its class; nil if nothing more is known.
    var reason: String? {
        switch reception.failure {
        case .malformed: textReason
        case .unknownKey, .undecryptable: keyReason
        case .attachmentFailed: attachmentReason
        default: nil
        }
    }

    private var textReason: String? {
        let missing = missingTexts
        guard !missing.isEmpty else { return nil }
        return settings.strings == nil
            ? "The payload has only keys of the app's texts (\(missing.joined(separator: ", "))), and the phone has no "
                + "texts: give --strings."
            : "The payload has only keys, and the app's texts don't have them: \(missing.joined(separator: ", "))."
    }

    private var keyReason: String? {
        guard let text = try? JSONText(payload), let outer = try? OuterPayload(text) else { return nil }
        if reception.failure == .undecryptable {
            guard outer.skid == nil, settings.hasTrust else { return nil }
            return "The push isn't signed, and with --trust the phone accepts only signed ones."
        }
        guard settings.hasKeys else { return "The phone has no keys: give --keys." }
        do throws(FailureClass) {
            _ = try settings.keyring.key(outer.kid, at: settings.startsAt)
        } catch {
            guard error == .unknownKey else { return nil }
            return "It was sealed to the key \(outer.kid), and the phone doesn't have it."
        }
        guard let skid = outer.skid else { return nil }
        return settings.hasTrust
            ? "It was signed with the key \(skid), and --trust doesn't have it."
            : "It was signed with the key \(skid), and no --trust was given: the phone accepts only unsigned pushes."
    }

    private var attachmentReason: String? {
        let failed = attachmentFailures.map { Self.text(of: $0.identifier) + " " + Self.text(of: $0.error) }
        let stages = (reception.report?.stageFailures ?? []).compactMap { failure -> String? in
            switch (failure.stage, failure.ending) {
            case ("attachments", .timedOut): "The attachments took too long for the extension's time."
            case ("offload", .timedOut): "The longer payload took too long."
            case ("offload", _): "The longer payload couldn't be fetched, or isn't the one that was sealed."
            default: nil
            }
        }
        let reasons = failed + stages
        return reasons.isEmpty ? nil : reasons.joined(separator: " ")
    }

    /// - Parameter identifier: `member.NAME` for a file whose address is in a member.
    private static func text(of identifier: String) -> String {
        identifier.hasPrefix("member.")
            ? "The attachment of \(identifier.dropFirst("member.".count))" : "The attachment \(identifier)"
    }

    private static func text(of error: any Error) -> String {
        guard let error = error as? TransferError, error.code != .cancelled else {
            // The stage keeps one second to finish.
            let limit = AttachmentStage.Configuration(folder: "").timeLimit - .seconds(1)
            return "wasn't complete in time: all attachments together have \(NumberText.decimal(limit.inSeconds, 1)) s."
        }
        return error.code == .status ? "isn't on the simulated network (see --serve)." : "was refused: \(error.reason)."
    }

    /// The members of the sealed payload with an address of `--serve` that `--attachment-member` doesn't name.
    var forgottenMembers: [String] {
        guard let root = sealed.flatMap({ try? JSONText($0) })?.root else { return [] }
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
