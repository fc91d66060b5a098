import PushCryptCore
import PushCryptExtension
import PushCryptKeysets
import PushCryptKeystore

/// What can be seen in the payload alone.
enum PayloadFaults {
    static let all: [Detector] = [
        empty, notJSON, utf16, byteOrderMark, textInText, base64Payload, wrapped, requestLine,
        simpleNotificationService,
        notAnObject, answer, moved, renamed, envelopeIsText, liveActivity, notSealed, version, numbersAsText,
        missingMembers, malformedIDs,
        sealedUnusable, sealedPadded,
        sealedStandardBase64, sealedPercentEncoded, sealedWhiteSpace, sealedHexadecimal, sealedCaseChanged,
        sealedOtherCharacters, sealedTruncated, apsMissing, apsNotAnObject, mutableContent,
        alertMissing,
        tooLarge, insecureAttachment, demoKey, ignoredValues, nulls, textsByKey,
    ]

    static let sendUnchanged =
        "Send the bytes that sealing returned as the body of the request, unchanged. If a relay or SDK is in between, "
        + "it must not parse, log or rebuild the payload."

    /// The greatest payload that APNs accepts.
    static func limitInBytes(_ evidence: Evidence) -> Int {
        evidence.headers?.pushType == "voip" ? 5_120 : PayloadBudget.apnsLimitInBytes
    }

    static func tooLarge(_ evidence: Evidence) -> Fault? {
        let limit = limitInBytes(evidence)
        guard evidence.payload.byteCount > limit else { return nil }
        return Fault(
            "payload-too-large", "The payload is too large: APNs refuses it.",
            [
                "payload: \(evidence.payload.byteCount) bytes, \(evidence.payload.byteCount - limit) over the limit "
                    + "of \(limit)"
            ],
            do:
                "Send the JSON without indentation and without members that you added after sealing. Move long "
                + "content to an attachment or an offloaded payload "
                + "(docs/attachments.md).", hides: ["apns-payload-too-large"], explains: [.noPush])
    }

    /// The extension fetches such a member only if the app names it, and never one of the outer payload.
    static func insecureAttachment(_ evidence: Evidence) -> Fault? {
        guard let members = evidence.trial?.insecureAddresses, !members.isEmpty else { return nil }
        let hasFailed = evidence.hasFailed(.attachmentFailed)
        return Fault(
            hasFailed ? .error : .warning, "attachment-over-http",
            "A member of the message has an http: address"
                + (hasFailed ? "." : ", which may be that of an attachment.")
                + " The extension fetches only https: addresses.",
            members.map { "the sealed message: \($0)" }, do: "Serve the file over https, and write that address.",
            hides: hasFailed ? ["attachment-failed"] : [], explains: [.failure(.attachmentFailed)])
    }

    static func demoKey(_ evidence: Evidence) -> Fault? {
        let seen = [("kid", evidence.payload.kid), ("skid", evidence.payload.skid)].compactMap { name, kid in
            kid.flatMap { DemoKeys.covers([$0]) ? "payload: pushcrypt.\(name) is the demo key \($0)" : nil }
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            evidence.acceptsDemoKeys ? .note : .error, "demo-key",
            "The push is sealed to a published demo key, or signed with one: everyone can read or forge it.", seen,
            do: "Make your own keys (`pushcrypt keys create`), and let the device register its own key.")
    }
}
