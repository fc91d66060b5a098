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
    /// The numbers of the pushes that APNs kept, and doesn't keep any more because of this one.
    let replacedNumbers: [Int]
    /// What the phone made of it.
    let reception: SimulatedDevice.Reception
    /// What a phone without the extension shows; nil for nothing.
    let before: LockScreen.Banner?
    /// What the phone with the extension shows; nil for nothing.
    let after: LockScreen.Banner?
    /// Where the phone with the extension shows it; nil for a push that it presents nowhere.
    let presentation: SimulatedPresentation?
    let attachments: [Attachment]
    /// The simulated time that the extension took.
    let duration: Duration
    /// Whether the extension has used more memory than it may.
    let exceedsMemory: Bool
    /// The addresses that the extension requested, and that `--serve` doesn't name.
    let missingAddresses: [String]
    /// The receipts that the phone has posted meanwhile, as it posts them.
    let receipts: [String]
    /// Whether its receipt is left in the app's store.
    let isReceiptWaiting: Bool

    /// The body of the request to APNs.
    var payload: [UInt8] { input.payload }

    /// The number of its line in the input, from 1.
    var line: Int { input.line }

    /// Whether the phone shows all that was sent, sealed or not, or hides it as the extension asks.
    var isComplete: Bool {
        (reception.isRestored || isSuppressed || reception.isUnsealed) && reception.failure == nil
            && findings.textFlaws.isEmpty
    }

    /// Whether the extension has restored it, and shows nothing of it.
    private var isSuppressed: Bool {
        reception.report?.isRestored == true && reception.presentation?.origin == .suppressed
    }

    /// Whether its text isn't shown for a reason of which `diagnose` can say more than the verdict.
    var isUnexplained: Bool {
        guard !reception.isRestored, !reception.isUnsealed, !reception.isStored, !reception.isDropped else {
            return false
        }
        let explained: [PresentedContent.Origin] = [.died, .notAllowed, .notPresented, .suppressed]
        if let origin = reception.presentation?.origin, explained.contains(origin) { return false }
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

    /// The number that the phone sets; nil if it sets none, as for a user who doesn't allow badges.
    var badge: Int? { presentation?.places.contains("badge") == true ? content?.badge : nil }

    /// The sound that the phone plays; nil if it plays none, as for an app in the foreground that doesn't want it.
    var sound: NotificationContent.Sound? { presentation?.sound }

    /// What the phone shows, as a name for programs. `restored` is the sealed text, also if a part of the push is missing.
    var outcome: String {
        if reception.refusal != nil { return "refused" }
        if reception.isStored { return "stored" }
        if reception.isDropped { return "dropped" }
        guard reception.presentation?.content != nil else { return "nothing" }
        guard reception.presentation?.origin == .handedOver, !reception.isUnsealed else { return "original" }
        return reception.isRestored ? "restored" : "placeholder"
    }

    /// Options that the user of the tool may have forgotten, and what is missing.
    var notes: [String] {
        let findings = findings
        return placeNotes + missingAddresses.map { "to serve what it requests, give --serve \($0)=FILE" }
            + findings.notes(takingBack: retractedNumbers) + standInNotes
            + findings.forgottenMembers.map {
                "the member \($0) has an address of --serve; to attach it, give --attachment-member \($0)"
            }
            + (reception.isRestored ? findings.textNotes : [])
            + (isReceiptWaiting ? ["its receipt waits in the app's store: the app posts it when it is active"] : [])
    }

    /// The notes, and the receipts, which are a member of their own in the JSON object.
    var shownNotes: [String] { notes + receipts.map(Self.note(ofReceipt:)) }

    static func note(ofReceipt body: String) -> String { "the phone posts the receipt \(body)" }

    /// Where it is, unless it is on the lock screen, and which pushes it replaces at APNs.
    private var placeNotes: [String] {
        var notes: [String] = []
        if !replacedNumbers.isEmpty {
            notes.append(
                "APNs keeps it in the place of push \(replacedNumbers.map { "\($0)" }.joined(separator: ", "))")
        }
        if let presentation, presentation.isVisible, !presentation.isOnLockScreen {
            let ways = [(presentation.isBanner, "as a banner"), (presentation.isListed, "in the list")]
            notes.append("shown \(ways.filter(\.0).map(\.1).joined(separator: " and ")), not on the lock screen")
        }
        return notes
    }

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
        if reception.isStored { return "kept by APNs: the phone is off line" }
        if reception.isDropped {
            return "dropped by APNs: the phone is off line, and the request's apns-expiration is 0"
        }
        guard let origin = reception.presentation?.origin else {
            if findings.isOfLiveActivity { return "nothing is shown: \(InnerPayload.liveActivity)" }
            if let type = input.headers["apns-push-type"], type != "alert" {
                return "nothing is shown: the request's apns-push-type isn't alert"
            }
            return "nothing is shown: the payload has no alert with text"
        }
        if origin == .died, exceedsMemory {
            return "\(origin), because it used more memory than --memory-limit allows"
        }
        guard let failure = reception.failure else {
            if isSuppressed { return "restored and hidden: the app has the entitlement for filtering" }
            if reception.isRestored || reception.isUnsealed {
                let shown = reception.isRestored ? "restored" : "shown although it isn't sealed"
                return shown + (textVerdict ?? (after?.isHidden == true ? "; the user's settings hide its text" : ""))
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
            "seconds": duration.inSeconds,
        ]
        let content = content
        let origin = input.origin.map { ($0.name, $0.value as (any Encodable)?) }
        let missingTexts = findings.missingTexts
        return json.adding(JSONObject(origin)).adding(ifKnown: [
            "identifier": reception.requestID, "places": presentation?.places,
            "replaced": replacedNumbers.isEmpty ? nil : replacedNumbers, "badge": badge, "sound": sound?.name,
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

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
