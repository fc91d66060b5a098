import PushCryptCore
import PushCryptExtension
import PushCryptSimulator

/// One push, as `pushcrypt simulate` has seen it.
struct SimulatedPush {
    /// What is beside a notification's text.
    struct Attachment {
        /// The system's name of the file.
        let path: String
        /// Such as `png`.
        let type: String
        let bytes: [UInt8]
        /// The media type, such as `image/png`; nil for a type that the system doesn't show.
        let mediaType: String?
    }

    /// Its number among the pushes, from 1.
    let number: Int
    let input: PayloadReader.Input
    let findings: PushFindings
    /// The payload that was sealed; nil if the push wasn't opened.
    let sent: [UInt8]?
    /// How many bytes of the message are padding; nil if the push wasn't opened.
    let paddingByteCount: Int?
    /// The numbers of the pushes that it takes back.
    let retractedNumbers: [Int]
    /// What the phone made of it.
    let reception: SimulatedDevice.Reception
    /// What a phone without the extension shows; nil for nothing.
    let before: LockScreen.Banner?
    /// What the phone with the extension shows; nil for nothing.
    let after: LockScreen.Banner?
    /// Where the phone with the extension shows it; nil for a push that it presents nowhere.
    let presentation: SimulatedPresentation?
    let attachments: [Attachment]
    /// The addresses that the extension requested, and that `--serve` doesn't name.
    let missingAddresses: [String]
    /// The receipts that the phone has posted meanwhile, as it posts them.
    let receipts: [String]

    /// The body of the request to APNs.
    var payload: [UInt8] { input.payload }

    /// The number of its line in the input, from 1.
    var line: Int { input.line }

    /// Whether the phone shows all that was sent, sealed or not.
    var isComplete: Bool {
        (reception.isRestored || reception.isUnsealed) && reception.failure == nil && findings.textFlaws.isEmpty
    }

    /// Whether its text isn't shown for a reason of which `diagnose` can say more than the verdict.
    var isUnexplained: Bool {
        guard !reception.isRestored, !reception.isUnsealed, reception.presentation?.origin != .died else {
            return false
        }
        switch reception.failure?.defined {
        case .unknownKey: return findings.settings.given != nil
        case .malformed, .notSealed: return findings.textFlaws.isEmpty
        case nil, .unsupportedVersion, .undecryptable, .keyExpired, .keyRevoked, .unsupportedSuite:
            return true
        case .keyLocked, .expired, .notYetValid, .replayed, .retracted, .timedOut, .attachmentFailed, .internalError:
            return false
        }
    }

    /// What the phone shows and does. The system sets the badge and plays the sound of a push without text, which no extension
    /// receives.
    var content: NotificationContent? {
        if let content = reception.content { return content }
        return reception.refusal == nil && reception.presentation == nil
            ? NotificationContent(withoutText: payload) : nil
    }

    /// The number that the phone sets; nil if it sets none.
    var badge: Int? { presentation?.setsBadge == true ? content?.badge : nil }

    /// The sound that the phone plays; nil if it plays none.
    var sound: NotificationContent.Sound? { presentation?.sound }

    /// What the phone shows, as a name for programs. `restored` is the sealed text, also if a part of the push is missing.
    var outcome: String {
        if reception.refusal != nil { return "refused" }
        guard reception.presentation?.content != nil else { return "nothing" }
        guard reception.presentation?.origin == .handedOver, !reception.isUnsealed else { return "original" }
        return reception.isRestored ? "restored" : "placeholder"
    }

    /// Options that the user of the tool may have forgotten, and what is missing.
    var notes: [String] {
        missingAddresses.map { "to serve what it requests, give --serve \($0)=FILE" }
            + findings.notes(takingBack: retractedNumbers) + standInNotes
            + findings.forgottenMembers.map {
                "the member \($0) has an address of --serve; to attach it, give --attachment-member \($0)"
            }
            + (reception.isRestored ? findings.textNotes : [])
    }

    /// The notes, and the receipts, which are a member of their own in the JSON object.
    var shownNotes: [String] { notes + receipts.map { "the phone posts the receipt \($0)" } }

    /// The tool doesn't know the app's own text.
    private var standInNotes: [String] {
        let standard = Placeholder.standard
        guard !reception.isRestored, reception.presentation?.origin == .handedOver, after?.title == standard.title,
            after?.body == standard.body, before?.title != standard.title || before?.body != standard.body
        else { return [] }
        return ["\"\(standard.title ?? "")\" stands for the app's own text, which the tool doesn't know"]
    }

    /// What became of the push, in one line.
    var verdict: String {
        if let refusal = reception.refusal {
            return "refused by APNs: \(refusal)" + (findings.refusal(input.headers).map { ": \($0)" } ?? "")
        }
        guard let origin = reception.presentation?.origin else {
            if findings.isOfLiveActivity { return "nothing is shown: \(InnerPayload.liveActivity)" }
            if let type = input.headers["apns-push-type"], type != "alert" {
                return "nothing is shown: the request's apns-push-type isn't alert"
            }
            return "nothing is shown: the payload has no alert with text"
        }
        if origin == .died { return "\(origin), because it used more memory than the system allows" }
        guard let failure = reception.failure else {
            if reception.isRestored || reception.isUnsealed {
                let shown = reception.isRestored ? "restored" : "shown although it isn't sealed"
                return shown + (textVerdict ?? "")
            }
            switch origin {
            case .handedOver: return "not restored: the extension couldn't be configured"
            case .notRun:
                return "the original is shown: " + (findings.isSealed ? "" : "the payload isn't sealed, and ")
                    + "aps.mutable-content isn't 1, so the extension doesn't run"
            default: return "\(origin)"
            }
        }
        let shown =
            switch origin {
            case _ where reception.isRestored: "the text is shown"
            case _ where after == nil: "nothing is shown"
            case .handedOver where reception.failure == .notSealed: "the app's own text is shown"
            case .handedOver: "the placeholder is shown"
            default: "\(origin)"
            }
        return "\(failure): \(shown). \(findings.reason ?? failure.meaning)"
    }

    /// What is wrong with texts of the app in a push that is shown.
    private var textVerdict: String? {
        let (missing, reasons) = (findings.missingTexts, findings.textFlaws.compactMap(\.reason))
        guard !missing.isEmpty || !reasons.isEmpty else { return nil }
        return (missing.isEmpty ? "" : " without a text that the app doesn't have: \(missing.joined(separator: ", "))")
            + (reasons.isEmpty ? "" : ", but " + reasons.joined(separator: "; "))
    }

    var json: JSONObject {
        let json: JSONObject = [
            "version": 1, "number": number, "line": line, "bytes": payload.count, "outcome": outcome,
            "restored": isComplete && !reception.isUnsealed,
            "failure": reception.failure?.rawValue, "refused": reception.refusal?.description,
            "verdict": verdict, "before": before.map(Self.json), "after": after.map(Self.json),
        ]
        let content = content
        let origin = input.origin.map { ($0.name, $0.value as (any Encodable)?) }
        let missingTexts = findings.missingTexts
        return json.adding(JSONObject(origin)).adding(ifKnown: [
            "identifier": reception.requestID, "badge": badge, "sound": sound?.name,
            "category": content?.category,
            "thread": content?.threadID, "interruptionLevel": content?.interruptionLevel,
            "missing": missingAddresses.isEmpty ? nil : missingAddresses,
            "missingTexts": missingTexts.isEmpty ? nil : missingTexts,
            "receipts": receipts.isEmpty ? nil : receipts, "notes": notes.isEmpty ? nil : notes,
            "attachments": attachments.isEmpty
                ? nil : attachments.map { ["type": $0.type, "bytes": $0.bytes.count] as JSONObject },
        ])
    }

    static func json(_ banner: LockScreen.Banner) -> JSONObject {
        [
            "title": banner.title, "subtitle": banner.subtitle, "body": banner.body, "hidden": banner.isHidden,
            "timeSensitive": banner.isTimeSensitive,
        ]
    }
}
