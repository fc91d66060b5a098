import PushCryptCore
import PushCryptExtension
import PushCryptKeysets
import PushCryptKeystore

/// What can be seen in the payload alone.
enum PayloadFaults {
    static let all: [Detector] = [
        empty, notJSON, utf16, byteOrderMark, textInText, base64Payload, wrapped, notAnObject, moved, renamed,
        envelopeIsText,
        notSealed, version, numbersAsText, missingMembers, malformedIDs, sealedUnusable, sealedPadded,
        sealedStandardBase64, sealedPercentEncoded, sealedWhiteSpace, sealedHexadecimal, sealedCaseChanged,
        sealedOtherCharacters, sealedTruncated, apsMissing, apsNotAnObject, mutableContent,
        alertMissing,
        tooLarge, insecureAttachment, demoKey, textsByKey,
    ]

    static let sendUnchanged =
        "Send the bytes that sealing returned as the body of the request, unchanged. If a relay or SDK is in between, "
        + "it must not parse, log or rebuild the payload."

    private static func empty(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.isEmpty else { return nil }
        return Fault(
            "payload-empty", "There is no payload: the input is empty.", ["payload: 0 bytes"],
            do:
                "Give the body of the request to APNs on stdin. If that body is what your backend sent, it sent "
                + "nothing."
        )
    }

    private static func notJSON(_ evidence: Evidence) -> Fault? {
        guard let error = evidence.payload.jsonError else { return nil }
        let seen = ["payload: \(evidence.payload.byteCount) bytes, \(error)"]
        switch error.code {
        case .truncated:
            return Fault(
                "payload-truncated", "The payload is cut off: the JSON ends in the middle.", seen,
                do:
                    "Look for a limit between sealing and APNs: a database column, a log line or a message queue. A "
                    + "sealed push has up to 4096 bytes.")
        case .duplicateName:
            return Fault(
                "payload-duplicate-member",
                "The payload has the same member twice. Readers disagree on such JSON, so the extension refuses it.",
                seen,
                do: "Find what adds members to the payload after sealing. \(sendUnchanged)")
        case .invalidUTF8, .loneSurrogate:
            return Fault(
                "payload-not-utf8", "The payload isn't UTF-8: something converted its characters.", seen,
                do: "Send the sealed bytes without converting them to another character set.")
        default:
            let hint = Self.hint(evidence.payload.text, error)
            return Fault(
                "payload-not-json", "The payload isn't JSON.", seen, do: hint + sendUnchanged)
        }
    }

    /// What the text looks like, from its first bytes.
    private static func hint(_ text: [UInt8], _ error: JSONError) -> String {
        if text.starts(with: "[AnyHashable(".utf8) || text.starts(with: "Optional(".utf8) {
            return "It is a dictionary as Swift's print writes it: write the data of JSONSerialization instead. "
        }
        // A time or a number at the beginning of a line of a log is JSON, too.
        if error.code == .trailingBytes, text.first == UInt8(ascii: "{") {
            let lines = text.split(separator: UInt8(ascii: "\n")).count
            return lines > 1
                ? "There are \(lines) lines: give one payload at a time. "
                : "Something follows the JSON: give the payload alone. "
        }
        if ["{'", "b'", "b\""].contains(where: { text.starts(with: $0.utf8) }) {
            return "It looks like a value that Python printed: use json.dumps, or the sealed bytes themselves. "
        }
        if text.starts(with: [0x1f, 0x8b]) { return "It is compressed (gzip): send it uncompressed. " }
        let start = String(decoding: text.prefix(64), as: UTF8.self)
        if ["&quot;", "&#34;", "&#x22;", "&#39;"].contains(where: start.contains) {
            return "It was escaped for HTML, as templates do: write the payload without a template. "
        }
        if start.hasPrefix("{\\\"") {
            return "Its quotation marks were escaped, as for a JSON string or a shell: send the JSON itself. "
        }
        if text.starts(with: "%7B".utf8) || text.starts(with: "payload=".utf8) {
            return "It looks like a form: send the JSON itself. "
        }
        if text.first != UInt8(ascii: "{"), let brace = text.firstIndex(of: UInt8(ascii: "{")),
            text[brace...].contains(UInt8(ascii: ":"))
        {
            return "It looks like a line of a log, in which an object begins at byte \(brace): give only this object. "
        }
        return ""
    }

    private static func utf16(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.wrappings.contains(.utf16) else { return nil }
        return Fault(
            "payload-utf16", "The payload is UTF-16. APNs and the extension read UTF-8 only.",
            ["payload: every second byte of the beginning is zero"], do: "Encode the body of the request as UTF-8.")
    }

    private static func byteOrderMark(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.wrappings.contains(.byteOrderMark) else { return nil }
        return Fault(
            "payload-byte-order-mark", "The payload begins with a byte order mark, which isn't JSON.",
            ["payload: the first three bytes are EF BB BF"],
            do: "Write the body as UTF-8 without a byte order mark (in .NET: new UTF8Encoding(false)).")
    }

    private static func textInText(_ evidence: Evidence) -> Fault? {
        for case .textInText(let count) in evidence.payload.wrappings {
            return Fault(
                "payload-encoded-twice",
                "The payload was encoded as JSON twice: it is a JSON text inside a JSON string.",
                ["payload: a string that contains the payload, \(NumberText.counted(count, "level")) deep"],
                do: "The sealed payload is JSON already. Send its bytes; don't pass them to a JSON encoder again.")
        }
        return nil
    }

    private static func base64Payload(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.wrappings.contains(.base64) else { return nil }
        return Fault(
            "payload-base64", "The whole payload is base64. APNs needs the JSON itself.",
            ["payload: base64 that contains a JSON object"], do: "Decode the payload before it is sent to APNs.")
    }

    /// Firebase has the payload for APNs at this path of its own request.
    private static let firebasePaths = ["message.apns.payload", "apns.payload"]

    private static func wrapped(_ evidence: Evidence) -> Fault? {
        for case .inside(let path) in evidence.payload.wrappings {
            guard !firebasePaths.contains(path) else {
                return Fault(
                    .note, "request-to-firebase", "This is a request to Firebase. Its payload for APNs is examined.",
                    ["payload: at \(path)"], do: "Nothing, if Firebase received this request.")
            }
            return Fault(
                "payload-wrapped",
                "The push was sent inside another object, so iOS finds neither its aps nor its pushcrypt member.",
                ["payload: aps and pushcrypt are at \(path), not at the top"],
                do: "Send only the object at \(path). A line of `seal --batch` contains it as \"payload\".")
        }
        return nil
    }

    private static func notAnObject(_ evidence: Evidence) -> Fault? {
        let payload = evidence.payload
        guard !payload.isEmpty, payload.jsonError == nil, payload.root == nil else { return nil }
        return Fault(
            "payload-not-an-object", "The payload is JSON, but not an object.", ["payload: no object at the top"],
            do: sendUnchanged)
    }

    private static func moved(_ evidence: Evidence) -> Fault? {
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

    private static func renamed(_ evidence: Evidence) -> Fault? {
        guard case .renamed(let path) = evidence.payload.place else { return nil }
        return Fault(
            "envelope-renamed",
            "The members of \"pushcrypt\" are there, but not under this name: something rebuilt the payload.",
            ["payload: kid and sealed are in \(path)"], do: sendUnchanged)
    }

    private static func envelopeIsText(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.envelopeIsText else { return nil }
        return Fault(
            "envelope-is-text", "The member \"pushcrypt\" is a string. It must be an object.",
            ["payload: pushcrypt is a string with JSON in it"],
            do:
                "Something turned custom data into strings, as Firebase's \"data\" does. Use the field for the raw "
                + "APNs payload (in Firebase: apns.payload).")
    }

    private static func notSealed(_ evidence: Evidence) -> Fault? {
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

    private static func version(_ evidence: Evidence) -> Fault? {
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
    private static func numbersAsText(_ evidence: Evidence) -> Fault? {
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

    private static func missingMembers(_ evidence: Evidence) -> Fault? {
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

    private static func malformedIDs(_ evidence: Evidence) -> Fault? {
        guard let envelope = evidence.payload.envelope else { return nil }
        let seen = ["kid", "skid"].compactMap { name -> String? in
            guard let value = envelope[name], value.utf8.flatMap(KeyID.init(utf8:)) == nil else { return nil }
            guard let count = value.utf8?.count else { return "payload: pushcrypt.\(name) isn't a string" }
            return "payload: pushcrypt.\(name) has \(count) characters; it must be 11 of base64url"
        }
        guard !seen.isEmpty else { return nil }
        return Fault("key-id-malformed", "The id of a key was changed on the way.", seen, do: sendUnchanged)
    }

    private static func sealedForm(_ evidence: Evidence, _ form: ReceivedPayload.SealedForm) -> Bool {
        evidence.payload.sealed?.forms.contains(form) ?? false
    }

    private static func sealedPadded(_ evidence: Evidence) -> Fault? {
        guard sealedForm(evidence, .padded) else { return nil }
        return Fault(
            "sealed-padded", "\"sealed\" ends with \"=\". The protocol uses base64url without padding.",
            [
                "payload: pushcrypt.sealed has \(evidence.payload.sealedCharacters?.count ?? 0) characters, with "
                    + "\"=\" at the end"
            ],
            do:
                "Something decoded \"sealed\" and encoded it again, or your sender pads: use base64url without \"=\" "
                + "(RFC 4648, section 5).")
    }

    private static func sealedStandardBase64(_ evidence: Evidence) -> Fault? {
        guard sealedForm(evidence, .standardBase64), !sealedForm(evidence, .whiteSpace) else { return nil }
        return Fault(
            "sealed-standard-base64", "\"sealed\" is standard base64. The protocol uses base64url.",
            ["payload: pushcrypt.sealed contains \"+\" or \"/\""],
            do: "Use the URL-safe alphabet, \"-\" and \"_\", and no \"=\" at the end (RFC 4648, section 5).",
            hides: ["sealed-padded"])
    }

    private static func sealedPercentEncoded(_ evidence: Evidence) -> Fault? {
        guard sealedForm(evidence, .percentEncoded) else { return nil }
        return Fault(
            "sealed-percent-encoded", "\"sealed\" was encoded for an address: it contains codes such as %2B.",
            ["payload: pushcrypt.sealed contains \"%\""], do: sendUnchanged,
            hides: ["sealed-standard-base64", "sealed-padded", "sealed-other-characters", "sealed-truncated"])
    }

    private static func sealedWhiteSpace(_ evidence: Evidence) -> Fault? {
        guard sealedForm(evidence, .whiteSpace) else { return nil }
        return Fault(
            "sealed-white-space",
            "\"sealed\" contains spaces or line breaks: something wrapped it, or encoded it as standard base64, whose "
                + "\"+\" became a space in a form.",
            ["payload: pushcrypt.sealed contains white space"],
            do:
                "Write \"sealed\" in one line, in base64url as sealing returned it. If a relay decodes forms, send "
                + "JSON instead.", hides: ["sealed-padded"])
    }

    /// `sealed` that is no text at all.
    private static func sealedUnusable(_ evidence: Evidence) -> Fault? {
        guard let sealed = evidence.payload.envelope?["sealed"], sealed.kind != .string || sealed.utf8?.isEmpty == true
        else { return nil }
        let isEmpty = sealed.kind == .string
        var seen = "payload: pushcrypt.sealed is \(isEmpty ? "an empty string" : sealed.kindText)"
        let isBuffer = sealed["type"]?.isString("Buffer") == true || sealed["0"]?.kind == .number
        let isBytes = sealed.kind == .array && sealed.elements.first?.kind == .number
        if isBuffer { seen += ", a Buffer or typed array that a JSON encoder wrote" }
        if isBytes { seen += " of numbers, a byte array that a JSON encoder wrote" }
        return Fault(
            isEmpty ? "sealed-empty" : "sealed-not-a-string",
            isEmpty
                ? "\"sealed\" is empty: the encrypted message is gone."
                : "\"sealed\" isn't a string. It must be the encrypted message in base64url.", [seen],
            do: (isBuffer || isBytes
                ? "Something decoded \"sealed\" to bytes and gave them to a JSON encoder: encode them as base64url without "
                    + "\"=\" (in Node: buffer.toString(\"base64url\")), or don't decode it. "
                : "") + sendUnchanged)
    }

    private static func sealedHexadecimal(_ evidence: Evidence) -> Fault? {
        guard sealedForm(evidence, .hexadecimal) else { return nil }
        return Fault(
            "sealed-hexadecimal", "\"sealed\" is hexadecimal. The protocol uses base64url.",
            ["payload: pushcrypt.sealed contains only hexadecimal digits"],
            do: "Something decoded \"sealed\" and encoded it again: use base64url without \"=\" (RFC 4648, section 5).")
    }

    private static func sealedCaseChanged(_ evidence: Evidence) -> Fault? {
        let isLower = sealedForm(evidence, .lowerCase)
        guard isLower || sealedForm(evidence, .upperCase) else { return nil }
        return Fault(
            "sealed-case-changed", "Something changed the case of letters in \"sealed\", so the message is destroyed.",
            ["payload: pushcrypt.sealed contains no \(isLower ? "capital" : "small") letter"],
            do:
                "Look for a database, header or template that writes texts in \(isLower ? "lower" : "upper") case. In "
                + "base64url, capital and small letters differ.", hides: ["key-id-case-changed"])
    }

    private static func sealedOtherCharacters(_ evidence: Evidence) -> Fault? {
        guard sealedForm(evidence, .otherCharacters) else { return nil }
        let text = String(decoding: evidence.payload.sealedCharacters ?? [], as: UTF8.self)
        let others = text.unicodeScalars.filter {
            !($0.isASCII && UInt8($0.value).isAlphanumeric) && $0 != "-" && $0 != "_"
        }
        let hasDash = others.contains { ("\u{2010}"..."\u{2015}").contains($0) || $0 == "\u{2212}" }
        return Fault(
            "sealed-other-characters", "\"sealed\" contains characters that base64url doesn't have.",
            [
                "payload: \(NumberText.counted(others.count, "character")) of pushcrypt.sealed "
                    + (hasDash ? "aren't base64url, such as a typographic dash" : "aren't base64url")
            ],
            do: (hasDash ? "An editor, mail or chat program replaced \"-\" by a longer dash. " : "") + sendUnchanged)
    }

    /// Lengths at which databases, logs and tools cut a text.
    private static let usualLimits = [
        100, 128, 160, 191, 200, 250, 255, 256, 300, 400, 500, 512, 767, 768, 1_000, 1_023, 1_024, 1_500, 2_000, 2_047,
        2_048,
        3_000, 4_000,
    ]
    private static let paddedTo = 128

    private static func sealedTruncated(_ evidence: Evidence) -> Fault? {
        let payload = evidence.payload
        guard let sealed = payload.sealed, let characters = payload.sealedCharacters, !characters.isEmpty,
            evidence.trial?.differences == nil,
            !sealed.forms.contains(where: \.hasOwnName)
        else { return nil }
        let hasDots = payload.sealedEndsWithDots
        let count = characters.count
        // A whole message can have such a length, too. Only keys that don't open it show that it was cut.
        var isCertain = true
        var seen = "payload: pushcrypt.sealed has \(count) characters"
        if hasDots {
            seen += " and ends with dots"
        } else if sealed.forms.contains(.damaged) {
            seen += ", which isn't whole base64url"
        } else if let bytes = sealed.bytes, bytes.count < Suite.shared.overheadByteCount + 2 {
            seen += ", fewer than the shortest message has"
        } else if usualLimits.contains(count), let bytes = sealed.bytes, !isPadded(bytes.count, payload.skid != nil) {
            seen += ", a usual limit of databases and logs"
            isCertain = evidence.trial.map { !$0.lacksDevice } ?? false
            if isCertain { seen += "; keys: the push doesn't open" }
        } else {
            return nil
        }
        return Fault(
            isCertain ? .error : .warning, "sealed-truncated",
            isCertain
                ? "\"sealed\" was cut off or damaged on the way."
                : "\"sealed\" may have been cut off on the way: its length is a usual limit. --keys of a test device shows "
                    + "whether it opens.", [seen],
            do:
                "Look for a limit where the payload is stored, queued or logged, for example a database column of 255 "
                + "characters. A sealed push has up to 4096 bytes. Don't copy payloads from a log that shortens them.")
    }

    /// Whether sealing pads to this length by default, in any suite.
    private static func isPadded(_ byteCount: Int, _ isSigned: Bool) -> Bool {
        Suite.allCases.contains { suite in
            let count = byteCount - Envelope.overheadByteCount(suite, isSigned: isSigned)
            return count > 0 && count.isMultiple(of: paddedTo)
        }
    }

    private static func apsMissing(_ evidence: Evidence) -> Fault? {
        guard let root = evidence.payload.root, root["aps"] == nil, evidence.payload.reportedFailure == nil else {
            return nil
        }
        return Fault(
            "aps-missing", "The payload has no \"aps\": APNs refuses it, or iOS shows nothing.",
            ["payload: no member \"aps\""],
            do: sendUnchanged, hides: ["alert-missing", "mutable-content-missing"])
    }

    private static func apsNotAnObject(_ evidence: Evidence) -> Fault? {
        guard let aps = evidence.payload.aps, aps.kind != .object else { return nil }
        return Fault(
            "aps-not-an-object", "\"aps\" isn't an object: APNs refuses the push, or iOS ignores it.",
            ["payload: aps is \(aps.kind == .string ? "a string" : "another kind of value")"], do: sendUnchanged,
            hides: ["alert-missing", "mutable-content-missing"])
    }

    private static func mutableContent(_ evidence: Evidence) -> Fault? {
        guard let root = evidence.payload.root, evidence.payload.envelope != nil,
            evidence.payload.reportedFailure == nil
        else { return nil }
        let aps = root["aps"]
        let value = aps?["mutable-content"]
        guard value == nil || value?.protocolInteger.map({ $0 != 1 }) == true else { return nil }
        let names = ["mutable-content", "mutable_content", "mutableContent"]
        let elsewhere =
            names.filter { root[$0] != nil } + names.dropFirst().filter { aps?[$0] != nil }.map { "aps.\($0)" }
        let seen = value == nil ? "payload: aps has no \"mutable-content\"" : "payload: aps.mutable-content isn't 1"
        return Fault(
            "mutable-content-missing",
            "The push lacks \"mutable-content\": 1, so iOS doesn't run the extension and shows the placeholder.",
            [seen] + elsewhere.map { "payload: \($0) has no effect" },
            do: "Add \"mutable-content\": 1 to \"aps\". Sealing writes it, so something removed it: \(sendUnchanged)")
    }

    private static func alertMissing(_ evidence: Evidence) -> Fault? {
        guard let aps = evidence.payload.aps, evidence.payload.reportedFailure == nil,
            !AlertText.isPresent(in: aps["alert"])
        else { return nil }
        let isBackground = aps["content-available"] != nil
        let cause =
            aps["alert"] == nil
            ? "The push has no alert, so iOS doesn't run the extension and shows nothing."
            : "The push has an alert without text, so iOS doesn't run the extension and shows nothing."
        return Fault(
            "alert-missing", cause,
            [
                "payload: aps.alert \(aps["alert"] == nil ? "is missing" : "has no title, subtitle, body or loc-key with text")"
            ]
                + (isBackground ? ["payload: aps has \"content-available\", as a background push"] : []),
            do: "Give the placeholder a text, such as \"New message\". The extension replaces it.")
    }

    private static func tooLarge(_ evidence: Evidence) -> Fault? {
        let limit = evidence.headers?.pushType == "voip" ? 5_120 : PayloadBudget.apnsLimitInBytes
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
                + "(docs/attachments.md).", hides: ["apns-payload-too-large"])
    }

    private static func insecureAttachment(_ evidence: Evidence) -> Fault? {
        let visible = evidence.payload.root.map { AttachmentAddresses.insecure(in: $0) } ?? []
        let sealed = evidence.trial?.insecureAddresses ?? []
        guard !(visible + sealed).isEmpty else { return nil }
        return Fault(
            "attachment-over-http", "An attachment has an http: address. The extension fetches only https: addresses.",
            visible.map { "payload: \($0)" } + sealed.map { "the sealed message: \($0)" },
            do: "Serve the file over https, and write that address.", hides: ["attachment-failed"])
    }

    private static func demoKey(_ evidence: Evidence) -> Fault? {
        let seen = [("kid", evidence.payload.kid), ("skid", evidence.payload.skid)].compactMap { name, kid in
            kid.flatMap { DemoKeys.covers([$0]) ? "payload: pushcrypt.\(name) is the demo key \($0)" : nil }
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            evidence.acceptsDemoKeys ? .note : .error, "demo-key",
            "The push is sealed to a published demo key, or signed with one: everyone can read or forge it.", seen,
            do: "Make own keys (`pushcrypt keys create`), and let the device register its own key.")
    }

    private static func textsByKey(_ evidence: Evidence) -> Fault? {
        guard let alert = evidence.payload.aps?["alert"], alert.kind == .object,
            !["title", "subtitle", "body"].contains(where: { alert[$0]?.isNonEmptyString == true })
        else { return nil }
        let keys = ["title-loc-key", "subtitle-loc-key", "loc-key"].filter { alert[$0]?.isNonEmptyString == true }
        guard !keys.isEmpty else { return nil }
        return Fault(
            .note, "texts-by-key",
            "The visible alert names only texts of the app. If the app lacks them, iOS shows the names or nothing.",
            keys.map { "payload: aps.alert has \"\($0)\" and no literal text" },
            do: "Check that the app's Localizable.strings or string catalog has these keys in each language.")
    }
}
