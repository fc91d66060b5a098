import PushCryptCore

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
            hides: ["aps-missing", "alert-missing", "mutable-content-missing", "envelope-is-text"])
    }

    static func renamed(_ evidence: Evidence) -> Fault? {
        guard case .renamed(let path) = evidence.payload.place else { return nil }
        return Fault(
            "envelope-renamed",
            "The members of \"pushcrypt\" are there, but not under this name: something rebuilt the payload.",
            ["payload: kid and sealed are in \(path)"], do: sendUnchanged)
    }

    static func envelopeIsText(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.envelopeIsText else { return nil }
        return Fault(
            "envelope-is-text", "The member \"pushcrypt\" is a string. It must be an object.",
            ["payload: pushcrypt is a string with JSON in it"],
            do:
                "Something turned custom data into strings, as Firebase's \"data\" does. Use the field for the raw "
                + "APNs payload (in Firebase: apns.payload).")
    }

    static func notSealed(_ evidence: Evidence) -> Fault? {
        let payload = evidence.payload
        guard let root = payload.root, payload.envelope == nil else { return nil }
        let near = root.members.first { ["pushcrypt", "push_crypt", "push-crypt"].contains($0.name.lowercased()) }
        let seen = ["payload: no member \"pushcrypt\"" + (near.map { ", but one named \"\($0.name)\"" } ?? "")]
        return Fault(
            "not-sealed",
            "The push isn't encrypted: it has no member \"pushcrypt\". Either it was never sealed, or something "
                + "removed the member.",
            seen + evidence.counted(.notSealed),
            do:
                "If your backend seals it, look for a relay or SDK that drops members it doesn't know. Otherwise seal "
                + "it: everyone on the way can read it now.")
    }

    static func version(_ evidence: Evidence) -> Fault? {
        guard let version = evidence.payload.envelope?["v"]?.protocolInteger, version != OuterPayload.version else {
            return nil
        }
        return Fault(
            "version-unsupported", "The push was sealed by a newer version of the protocol than the app knows.",
            ["payload: pushcrypt.v is \(version), this version reads \(OuterPayload.version)"]
                + evidence.counted(.unsupportedVersion),
            do:
                "Let the backend seal version \(OuterPayload.version) until all devices have an app that reads "
                + "version \(version)."
        )
    }

    /// Numbers that became strings, booleans or decimals.
    static func numbersAsText(_ evidence: Evidence) -> Fault? {
        let payload = evidence.payload
        let numbers = [
            ("pushcrypt.v", payload.envelope?["v"]), ("aps.mutable-content", payload.aps?["mutable-content"]),
        ]
        let seen = numbers.compactMap { name, value -> String? in
            guard let value, value.protocolInteger == nil else { return nil }
            switch value.kind {
            case .string: return "payload: \(name) is a string"
            case .boolean: return "payload: \(name) is true or false"
            case .number: return "payload: \(name) is a decimal number"
            default: return "payload: \(name) isn't a number"
            }
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "numbers-changed",
            "Something rebuilt the payload and changed its numbers. The extension accepts only the number 1.",
            seen, do: sendUnchanged)
    }

    static func missingMembers(_ evidence: Evidence) -> Fault? {
        guard let envelope = evidence.payload.envelope, evidence.payload.reportedFailure == nil else { return nil }
        guard envelope.kind == .object else {
            return Fault(
                "envelope-not-an-object", "The member \"pushcrypt\" isn't an object.",
                ["payload: it is \(envelope.kindText)"],
                do: sendUnchanged)
        }
        var missing = ["v", "kid", "sealed"].filter { envelope[$0] == nil }
        for case .missingSender in evidence.trial?.differences ?? [] { missing.append("skid") }
        guard !missing.isEmpty else { return nil }
        return Fault(
            "envelope-member-missing", "Something removed a part of \"pushcrypt\".",
            missing.map { "payload: pushcrypt.\($0) is missing" }, do: sendUnchanged,
            hides: missing.contains("skid") ? ["push-not-signed"] : [])
    }

    static func malformedIDs(_ evidence: Evidence) -> Fault? {
        guard let envelope = evidence.payload.envelope else { return nil }
        let seen = ["kid", "skid"].compactMap { name -> String? in
            guard let value = envelope[name], value.utf8.flatMap(KeyID.init(utf8:)) == nil else { return nil }
            guard let count = value.utf8?.count else { return "payload: pushcrypt.\(name) isn't a string" }
            return "payload: pushcrypt.\(name) has \(count) characters; it must be 11 of base64url"
        }
        guard !seen.isEmpty else { return nil }
        return Fault("key-id-malformed", "The id of a key was changed on the way.", seen, do: sendUnchanged)
    }
}
