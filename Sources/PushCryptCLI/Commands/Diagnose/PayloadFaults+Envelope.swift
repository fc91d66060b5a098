import PushCryptCore
import PushCryptKeystore

/// Faults of the member "pushcrypt" and of its members, apart from `sealed`.
extension PayloadFaults {
    static func moved(_ evidence: Evidence) -> Fault? {
        guard case .moved(let path) = evidence.payload.place else { return nil }
        let isText = evidence.payload.envelopeIsText
        return Fault(
            "envelope-moved",
            "A relay or SDK moved the member \"pushcrypt\"" + (isText ? " and made a string of it" : "")
                + ": the extension looks for " + (isText ? "an object" : "it") + " next to \"aps\".",
            ["payload: it is at \(path)" + (isText ? ", as a string with JSON in it" : "")],
            do:
                "Send \"pushcrypt\"" + (isText ? " as an object" : "")
                + " at the top of the payload, next to \"aps\". SDKs for several platforms have a "
                + "field for the raw APNs payload; a field for custom data puts it into a sub-object.",
            hides: ["aps-missing", "alert-missing", "mutable-content-missing", "envelope-is-text"],
            explains: [.failure(.notSealed)])
    }

    static func renamed(_ evidence: Evidence) -> Fault? {
        guard case .renamed(let path) = evidence.payload.place else { return nil }
        return Fault(
            "envelope-renamed",
            "The members of \"pushcrypt\" are there, but not under this name: something rebuilt the payload.",
            ["payload: kid and sealed are in \(path)"], do: sendUnchanged, explains: [.failure(.notSealed)])
    }

    static func envelopeIsText(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.envelopeIsText else { return nil }
        return Fault(
            "envelope-is-text", "The member \"pushcrypt\" is a string. It must be an object.",
            ["payload: pushcrypt is a string with JSON in it"],
            do:
                "Something turned custom data into strings, as Firebase's \"data\" does. Use the field for the raw "
                + "APNs payload (in Firebase: apns.payload).", explains: [.failure(.malformed)])
    }

    /// The payload of a Live Activity isn't sealed, needs no alert, and has a type and a topic of its own.
    static func liveActivity(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.isOfLiveActivity else { return nil }
        let reason = InnerPayload.liveActivityReason
        return Fault(
            .note, "live-activity", reason.prefix(1).uppercased() + reason.dropFirst() + ".",
            ["payload: aps has members of a Live Activity"],
            do: "Send it with apns-push-type: liveactivity, and with the app's bundle identifier and "
                + ".push-type.liveactivity as the apns-topic.")
    }

    static func notSealed(_ evidence: Evidence) -> Fault? {
        let payload = evidence.payload
        guard let root = payload.root, payload.envelope == nil, !payload.isOfLiveActivity else { return nil }
        let near = root.members.first { ["pushcrypt", "push_crypt", "push-crypt"].contains($0.name.lowercased()) }
        let seen = ["payload: no member \"pushcrypt\"" + (near.map { ", but one named \"\($0.name)\"" } ?? "")]
        let advice =
            "If your backend seals it, look for a relay or SDK that drops members it doesn't know. Otherwise seal it: "
            + "everyone on the way can read it now."
        // The extension restores the payload that was sealed, which has neither member.
        let mayBeRestored =
            payload.aps?["mutable-content"] == nil && near == nil && payload.wrappings.isEmpty
            && evidence.headers == nil && evidence.seen(.notSealed).isEmpty
        guard !mayBeRestored else {
            return Fault(
                .warning, "not-sealed",
                "The payload isn't encrypted. If it is the userInfo of a notification that the extension restored, nothing "
                    + "is wrong. If it is what was sent, it was never sealed, or something removed the member.",
                seen + ["payload: aps has no \"mutable-content\""], do: "If it is the userInfo, nothing. \(advice)")
        }
        return Fault(
            "not-sealed",
            "The push isn't encrypted: it has no member \"pushcrypt\". Either it was never sealed, or something "
                + "removed the member.", seen, do: advice, explains: [.failure(.notSealed)])
    }

    static func version(_ evidence: Evidence) -> Fault? {
        let known = OuterPayload.version
        guard let version = evidence.payload.envelope?["v"]?.protocolInteger, version != known else { return nil }
        let isNewer = version > known
        return Fault(
            "version-unsupported",
            isNewer
                ? "The push was sealed by a newer version of the protocol than the app knows."
                : "The push has a version of the protocol that doesn't exist: something changed it, or your sender writes it.",
            ["payload: pushcrypt.v is \(version), this version reads \(known)"],
            do: isNewer
                ? "Let the backend seal version \(known) until all devices have an app that reads version \(version)."
                : "Write \"v\": \(known). \(sendUnchanged)",
            hides: ["undecryptable"], explains: [.failure(.unsupportedVersion)])
    }

    /// Numbers that became strings, booleans or decimals.
    static func numbersAsText(_ evidence: Evidence) -> Fault? {
        let payload = evidence.payload
        let numbers = [
            ("pushcrypt.v", payload.envelope?["v"]), ("aps.mutable-content", payload.aps?["mutable-content"]),
        ]
        let seen = numbers.compactMap { name, value -> String? in
            guard let value, value.protocolInteger == nil else { return nil }
            return "payload: \(name) is \(value.kind == .number ? "a decimal number" : value.kindText)"
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "numbers-changed",
            "Something rebuilt the payload and changed its numbers. The extension accepts only the number 1.",
            seen, do: sendUnchanged, explains: [.failure(.malformed), .noPush])
    }

    static func missingMembers(_ evidence: Evidence) -> Fault? {
        guard let envelope = evidence.payload.envelope, evidence.payload.reportedFailure == nil else { return nil }
        guard envelope.kind == .object else {
            return Fault(
                "envelope-not-an-object", "The member \"pushcrypt\" isn't an object.",
                ["payload: it is \(envelope.kindText)"],
                do: sendUnchanged, explains: [.failure(.malformed)])
        }
        var missing = ["v", "kid", "sealed"].filter { envelope[$0] == nil }
        for case .missingSender in evidence.trial?.differences ?? [] { missing.append("skid") }
        guard !missing.isEmpty else { return nil }
        return Fault(
            "envelope-member-missing", "Something removed a part of \"pushcrypt\".",
            missing.map { "payload: pushcrypt.\($0) is missing" }, do: sendUnchanged,
            hides: missing.contains("skid") ? ["push-not-signed"] : [],
            explains: [.failure(missing == ["skid"] ? .undecryptable : .malformed)])
    }

    static func malformedIDs(_ evidence: Evidence) -> Fault? {
        guard let envelope = evidence.payload.envelope else { return nil }
        let seen = ["kid", "skid"].compactMap { name -> String? in
            guard let value = envelope[name], value.utf8.flatMap(KeyID.init(utf8:)) == nil else { return nil }
            guard let count = value.utf8?.count else { return "payload: pushcrypt.\(name) isn't a string" }
            return count == 11
                ? "payload: pushcrypt.\(name) isn't canonical base64url of 8 bytes"
                : "payload: pushcrypt.\(name) has \(count) characters; it must be 11 of base64url"
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "key-id-malformed", "The id of a key was changed on the way.", seen, do: sendUnchanged,
            hides: ["undecryptable"], explains: [.failure(.malformed)])
    }
}
