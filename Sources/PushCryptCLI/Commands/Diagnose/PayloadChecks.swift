import PushCryptCore
import PushCryptExtension
import PushCryptKeysets
import PushCryptKeystore

/// What can be seen in the payload alone.
enum PayloadChecks {
    /// What was received isn't the JSON object that APNs reads.
    static let document: [Check] = [missing, notJSON, wrapped]
    /// `pushcrypt` isn't what sealing wrote.
    static let envelope: [Check] = [envelopeChanged, version, sealedChanged, sealedTruncated]
    /// What APNs and iOS read.
    static let notification: [Check] = [
        notSealed, plainRequest, liveActivity, alertMissing, mutableContent, tooLarge, ignoredValues, demoKey,
    ]

    static let sendUnchanged =
        "Send the bytes that sealing returned as the body of the request, unchanged. If a relay or SDK is in between, "
        + "it must not parse, log or rebuild the payload."

    // MARK: The document

    private static func missing(_ facts: Facts) -> Finding? {
        if facts.payload.isAnswer {
            return Finding(
                .payloadMissing, "The input is the answer of APNs, not a payload.",
                ["payload: it is an object with \"reason\", or begins with HTTP/"],
                do: "Give the answer with --headers FILE, and the body of the request as the input.")
        }
        guard facts.payload.isEmpty else { return nil }
        // With these, somebody may ask about the request or the device only.
        let hasOthers = facts.headers != nil || facts.report != nil || facts.app != nil
        return Finding(
            hasOthers ? .warning : .error, .payloadMissing, "There is no payload: the input is empty.",
            ["payload: 0 bytes"],
            do:
                "Give the body of the request to APNs, in a file or on stdin. If that body is what your backend "
                + "sent, it "
                + "sent nothing.")
    }

    private static func notJSON(_ facts: Facts) -> Finding? {
        let payload = facts.payload
        func finding(_ seen: String, _ advice: String) -> Finding {
            Finding(
                .payloadNotJSON, "The payload isn't a JSON object in UTF-8, so APNs or the extension refuses it.",
                ["payload: \(seen)"], do: advice)
        }
        if let error = payload.jsonError, !payload.isAnswer {
            let seen = "\(payload.byteCount) bytes, \(error)"
            guard error.code != .truncated else { return truncated(["payload: \(seen)"]) }
            return finding(
                seen,
                "Give the JSON of one payload alone: no line of a log, no value that Swift or Python printed, no "
                    + "form, nothing "
                    + "escaped for HTML or compressed. \(sendUnchanged)")
        }
        if payload.wrapping == .utf16 { return finding("it is UTF-16", "Encode the body as UTF-8.") }
        if payload.wrapping == .byteOrderMark {
            return finding(
                "it begins with a byte order mark, EF BB BF",
                "Write the body without a byte order mark (in .NET: new UTF8Encoding(false)).")
        }
        if payload.wrapping == .textInText {
            return finding(
                "it is a JSON text inside a JSON string: it was encoded twice",
                "The sealed payload is JSON already. Send its bytes; don't pass them to a JSON encoder again.")
        }
        if payload.wrapping == .base64 {
            return finding("it is base64 that contains JSON", "Decode the payload before it is sent to APNs.")
        }
        guard !payload.isEmpty, !payload.isAnswer, payload.root == nil else { return nil }
        return finding("there is no object at the top", sendUnchanged)
    }

    private static func wrapped(_ facts: Facts) -> Finding? {
        guard case .inside(let path)? = facts.payload.wrapping else { return nil }
        return Finding(
            .payloadWrapped,
            "The push was sent inside another object, so iOS finds neither its aps nor its pushcrypt member.",
            ["payload: aps and pushcrypt are at \(path), not at the top"],
            do: "Send only the object at \(path). A line of `seal --batch` contains it as \"payload\". Amazon SNS "
                + "needs it as a string.")
    }

    // MARK: The envelope

    private static func envelopeChanged(_ facts: Facts) -> Finding? {
        let payload = facts.payload
        guard let envelope = payload.envelope, payload.reportedFailure == nil else { return nil }
        var seen: [String] = []
        let places = payload.places.joined(separator: " or ")
        if let place = payload.otherPlace {
            seen.append("it \(payload.request == nil ? "is" : "arrives") at \(place), and the app looks for \(places)")
        }
        if payload.isAtTwoPlaces { seen.append("more than one of \(places) has a value") }
        if payload.carrier == .apns, payload.otherPlace == nil {
            seen.append("pushcrypt is an object; the app looks for a string with JSON in it")
        }
        if payload.envelopeIsText { seen.append("pushcrypt is a string with JSON in it; it must be an object") }
        let placeCount = seen.count
        if envelope.kind != .object {
            seen.append("pushcrypt is \(envelope.kindText); it must be an object")
        } else {
            seen += ["v", "kid", "sealed"].filter { envelope[$0] == nil }.map { "pushcrypt.\($0) is missing" }
            if let version = envelope["v"], version.protocolInteger == nil {
                seen.append("pushcrypt.v is \(version.kindText); it must be the number 1")
            }
            seen += ["kid", "skid"].compactMap { name in envelope[name].flatMap { keyID($0, name, facts) } }
        }
        guard !seen.isEmpty else { return nil }
        if let carrier = payload.carrier, seen.count == placeCount {
            let name = carrier == .apns ? "apns, rebuilt or fcm" : carrier.rawValue
            return Finding(
                .envelopeChanged, "The push came by the carrier \(name), which the app doesn't name.",
                seen.map { "payload: \($0)" },
                do:
                    "If your backend sends through such a service, seal with --carrier \(carrier), and name the carrier in the "
                    + "app's configuration. To diagnose such pushes: --carrier \(carrier).")
        }
        return Finding(
            .envelopeChanged, "Something changed the member \"pushcrypt\": it isn't what sealing wrote.",
            seen.map { "payload: \($0)" },
            do: sendUnchanged + " SDKs for several platforms have a field for the raw APNs payload (in Firebase: "
                + "apns.payload); a field for custom data moves members and makes strings of them.")
    }

    /// What is wrong with the id of a key. A service that compares names without regard to case may have rewritten it.
    private static func keyID(_ value: JSONValue, _ name: String, _ facts: Facts) -> String? {
        guard let id = value.string else { return "pushcrypt.\(name) is \(value.kindText); it must be a string" }
        var known = (facts.report?.keys ?? []).map(\.kid) + (facts.report?.senders?.kids ?? [])
        known += ((facts.keys?.keyIDs ?? []) + (facts.trusted?.keyIDs ?? [])).map(\.description)
        if let record = facts.record { known.append("\(record.kid)") }
        if !known.contains(id), let right = known.first(where: { $0.lowercased() == id.lowercased() }) {
            return "pushcrypt.\(name) is \(id), and the key's id is \(right): the case of letters was changed"
        }
        return KeyID(utf8: Array(id.utf8)[...]) == nil
            ? "pushcrypt.\(name) has \(id.utf8.count) characters and isn't base64url of 8 bytes" : nil
    }

    private static func version(_ facts: Facts) -> Finding? {
        let known = OuterPayload.version
        guard let version = facts.payload.envelope?["v"]?.protocolInteger, version != known else { return nil }
        return Finding(
            .versionUnsupported,
            version > known
                ? "The push was sealed by a newer version of the protocol than the app knows."
                : "The push has a version of the protocol that doesn't exist.",
            ["payload: pushcrypt.v is \(version), this version reads \(known)"],
            do: "Let the backend seal version \(known) until all devices have an app that reads another one.")
    }

    /// What the characters of `sealed` show, the certain one first.
    private static let forms: [(seen: String, advice: String, isSeen: @Sendable (ArraySlice<UInt8>) -> Bool)] = [
        ("contains codes such as %2B, as in an address", base64url, { $0.contains(UInt8(ascii: "%")) }),
        (
            "contains white space", "Write it in one line. If a relay decodes forms, send JSON instead.",
            { $0.contains(where: \.isWhiteSpace) }
        ),
        (
            "contains \"+\" or \"/\", as standard base64 does", base64url,
            { $0.contains { $0.isOne(of: "+/") } && $0.allSatisfy { $0.isAlphanumeric || $0.isOne(of: "+/=") } }
        ),
        ("ends with \"=\"", base64url, { $0.last == UInt8(ascii: "=") }),
        (
            "contains only hexadecimal digits", base64url,
            { $0.count >= 64 && $0.allSatisfy { $0.isOne(of: "0123456789abcdefABCDEF") } }
        ),
        // Base64url of 64 characters or more has small and capital letters with near certainty.
        ("contains no capital letter", letters, { $0.count >= 64 && !$0.contains(where: capital.contains) }),
        ("contains no small letter", letters, { $0.count >= 64 && !$0.contains(where: small.contains) }),
        (
            "contains characters that base64url doesn't have, such as a typographic dash", sendUnchanged,
            { !$0.allSatisfy { $0.isAlphanumeric || $0.isOne(of: "-_") } }
        ),
    ]
    private static let base64url =
        "Something encoded \"sealed\" again: use base64url without \"=\" (RFC 4648, section 5), as sealing wrote it."
    private static let letters =
        "Look for a database, header or template that changes the case of letters. In base64url it counts."
    private static let capital = UInt8(ascii: "A")...UInt8(ascii: "Z")
    private static let small = UInt8(ascii: "a")...UInt8(ascii: "z")

    private static func sealedChanged(_ facts: Facts) -> Finding? {
        guard facts.payload.isSealed, let sealed = facts.payload.envelope?["sealed"] else { return nil }
        func finding(_ seen: String, _ advice: String) -> Finding {
            Finding(
                .sealedChanged, "Something changed \"sealed\": it isn't the base64url that sealing wrote.",
                ["payload: pushcrypt.sealed \(seen)"], do: advice)
        }
        guard sealed.kind == .string, let characters = sealed.utf8 else {
            return finding(
                "is \(sealed.kindText)",
                "Something decoded \"sealed\" to bytes: encode them as base64url without \"=\" (in Node: "
                    + "buffer.toString(\"base64url\")), or don't decode it.")
        }
        guard !characters.isEmpty else { return finding("is an empty string", sendUnchanged) }
        guard !endsWithDots(characters) else { return nil }
        return forms.first { $0.isSeen(characters) }.map { finding($0.seen, $0.advice) }
    }

    /// Whether a log or a tool shortened it.
    private static func endsWithDots(_ characters: ArraySlice<UInt8>) -> Bool {
        ["...", "…"].contains { characters.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }

    private static func sealedTruncated(_ facts: Facts) -> Finding? {
        guard facts.payload.isSealed, let characters = facts.payload.sealedCharacters, !characters.isEmpty,
            sealedChanged(facts) == nil
        else { return nil }
        let seen = "payload: pushcrypt.sealed has \(characters.count) characters"
        if endsWithDots(characters) { return truncated([seen + " and ends with dots"]) }
        guard let bytes = facts.payload.sealed else { return truncated([seen + ", which isn't whole base64url"]) }
        guard bytes.count < Suite.shared.overheadByteCount + 2 else { return nil }
        return truncated([seen + ", fewer than the shortest message has"])
    }

    private static func truncated(_ seen: [String]) -> Finding {
        Finding(
            .payloadTruncated, "The payload is cut off.", seen,
            do: "Look for a limit between sealing and APNs: a database column, a log line or a message queue. A sealed "
                + "push has up to 4096 bytes.")
    }

    // MARK: The notification

    private static func notSealed(_ facts: Facts) -> Finding? {
        let payload = facts.payload
        guard let root = payload.root, payload.envelope == nil, !payload.isOfLiveActivity else { return nil }
        let near = root.members.first { member in
            let name = member.name.lowercased()
            let isFlat = name.hasPrefix("pushcrypt") && name.count <= 20 && name.contains("sealed")
            return isFlat || ["pushcrypt", "push_crypt", "push-crypt"].contains(name)
        }
        // The extension restores the payload that was sealed, which has neither member.
        let mayBeRestored =
            payload.aps?["mutable-content"] == nil && near == nil && payload.wrapping == nil
            && facts.headers == nil && facts.seen(.notSealed).isEmpty
        return Finding(
            mayBeRestored ? .warning : .error, .notSealed,
            mayBeRestored
                ? "The payload isn't encrypted. It may be the userInfo of a notification that the extension restored."
                : "The push isn't encrypted: it was never sealed, or something removed the member \"pushcrypt\".",
            ["payload: no member \"pushcrypt\"" + (near.map { ", but one named \"\($0.name)\"" } ?? "")]
                + facts.seen(.notSealed),
            do:
                "If it is such userInfo, nothing. If your backend seals it, look for a relay or SDK that drops "
                + "members it "
                + "doesn't know. Otherwise seal it: everyone on the way can read it now.")
    }

    /// The payload of a Live Activity isn't sealed, needs no alert, and has a type and a topic of its own.
    private static func liveActivity(_ facts: Facts) -> Finding? {
        guard facts.payload.isOfLiveActivity else { return nil }
        let reason = InnerPayload.liveActivityReason
        return Finding(
            .note, .liveActivity, reason.prefix(1).uppercased() + reason.dropFirst() + ".",
            ["payload: aps has members of a Live Activity"],
            do: "Send it with apns-push-type: liveactivity, and with the app's bundle identifier and "
                + ".push-type.liveactivity as the apns-topic.")
    }

    private static func alertMissing(_ facts: Facts) -> Finding? {
        let payload = facts.payload
        guard let root = payload.root, payload.reportedFailure == nil, !payload.isOfLiveActivity,
            !AlertText.isVisible(in: root["aps"]?["alert"])
        else { return nil }
        let seen =
            switch root["aps"] {
            case nil: "there is no \"aps\""
            case let aps? where aps.kind != .object: "aps is \(aps.kindText); it must be an object"
            case let aps? where aps["alert"] == nil:
                "aps has no \"alert\"" + (aps["content-available"] == nil ? "" : ", as a background push")
            default: "aps.alert has no title, subtitle, body or loc-key with a visible character"
            }
        return Finding(
            .alertMissing,
            "The push has no alert with a visible text, so iOS doesn't run the extension, or it refuses the push.",
            ["payload: \(seen)"],
            do: "Give the placeholder a text, such as \"New message\". Sealing writes one: \(sendUnchanged)")
    }

    private static func plainRequest(_ facts: Facts) -> Finding? {
        guard let member = facts.payload.request?.plainMember else { return nil }
        return Finding(
            .notSealed, "The request has a text beside the sealed payload, which the service and Apple can read.",
            ["request: it has the member \"\(member)\""],
            do: "Send only what `seal --request` writes: it has the placeholder in apns.payload.aps.alert.")
    }

    private static func mutableContent(_ facts: Facts) -> Finding? {
        guard let root = facts.payload.root, facts.payload.isSealed else { return nil }
        let aps = root["aps"]
        let value = aps?["mutable-content"]
        guard value?.protocolInteger != 1 else { return nil }
        let names = ["mutable-content", "mutable_content", "mutableContent"]
        let request = facts.payload.request
        let elsewhere =
            names.filter { root[$0] != nil } + names.dropFirst().filter { aps?[$0] != nil }.map { "aps.\($0)" }
            + (request?.mutable.filter { $0 != request?.mutableName } ?? [])
        return Finding(
            .mutableContentMissing,
            "The push lacks \"mutable-content\": 1, so iOS doesn't run the extension and shows the placeholder.",
            [
                value.map { "payload: aps.mutable-content is \($0.kindText) other than the number 1" }
                    ?? "payload: aps has no \"mutable-content\""
            ] + elsewhere.map { "payload: \($0) has no effect" },
            do: request?.mutableName.map { "Send \"\($0)\": true in the request, as `seal --request` writes it." }
                ?? "Sealing writes it into \"aps\", so something removed or changed it: \(sendUnchanged)")
    }

    /// The greatest payload that APNs accepts.
    static func limitInBytes(_ facts: Facts) -> Int {
        facts.headers?.pushType == "voip" ? 5_120 : PayloadBudget.apnsLimitInBytes
    }

    private static func tooLarge(_ facts: Facts) -> Finding? {
        let (count, limit) = (facts.payload.byteCount, limitInBytes(facts))
        guard count > limit else { return nil }
        let added = facts.payload.request.map { $0.carrier.reservedByteCount } ?? 0
        return Finding(
            .payloadTooLarge, "The payload is too large: APNs refuses it.",
            [
                "payload: \(count) bytes" + (added > 0 ? " with \(added) for what the service adds" : "")
                    + ", \(count - limit) over the limit of \(limit)"
            ],
            do: (added > 0 ? "Seal with the carrier of the service, which leaves room. " : "")
                + "Send the JSON without indentation and without members that you added after sealing. Move long content "
                + "to an attachment or an offloaded payload (docs/attachments.md).")
    }

    /// Values of wrong types, and values that the app's `userInfo` can't have.
    private static func ignoredValues(_ facts: Facts) -> Finding? {
        let visible = facts.payload.root.map { PayloadWarning.all(in: $0, isOuter: facts.payload.isSealed) } ?? []
        let sealed = facts.trial?.payload.map { PayloadWarning.all(in: $0) } ?? []
        let seen = visible.map { "payload: \($0)" } + sealed.map { "the sealed message: \($0)" }
        guard !seen.isEmpty else { return nil }
        return Finding(
            .warning, .valueIgnored, "A device ignores or changes values of the payload, without an error.", seen,
            do:
                "Write each value in the type that Apple documents, such as \"badge\": 3 and not \"badge\": \"3\". "
                + "Leave "
                + "out a member that has no value.")
    }

    private static func demoKey(_ facts: Facts) -> Finding? {
        let seen = [("kid", facts.payload.kid), ("skid", facts.payload.skid)].compactMap { name, kid in
            kid.flatMap { DemoKeys.covers([$0]) ? "payload: pushcrypt.\(name) is the demo key \($0)" : nil }
        }
        guard !seen.isEmpty else { return nil }
        return Finding(
            .demoKey, "The push is sealed to a published demo key, or signed with one: everyone can read or forge it.",
            seen, do: "Make your own keys (`pushcrypt keys create`), and let the device register its own key.")
    }
}
