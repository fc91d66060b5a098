import PushCryptCore
import PushCryptKeystore

/// Faults of `pushcrypt.sealed`, the encrypted message.
extension PayloadFaults {
    private static func sealedForm(_ evidence: Evidence, _ form: ReceivedPayload.SealedForm) -> Bool {
        evidence.payload.sealed?.forms.contains(form) ?? false
    }

    /// What a device makes of a destroyed message: it isn't base64url, or it doesn't open.
    private static let damage: [Symptom] = [.failure(.malformed), .failure(.undecryptable)]

    static func sealedPadded(_ evidence: Evidence) -> Fault? {
        guard sealedForm(evidence, .padded) else { return nil }
        return Fault(
            "sealed-padded", "\"sealed\" ends with \"=\". The protocol uses base64url without padding.",
            [
                "payload: pushcrypt.sealed has \(evidence.payload.sealedCharacters?.count ?? 0) characters, with "
                    + "\"=\" at the end"
            ],
            do:
                "Something decoded \"sealed\" and encoded it again, or your sender pads: use base64url without \"=\" "
                + "(RFC 4648, section 5).", explains: [.failure(.malformed)])
    }

    static func sealedStandardBase64(_ evidence: Evidence) -> Fault? {
        guard sealedForm(evidence, .standardBase64), !sealedForm(evidence, .whiteSpace) else { return nil }
        return Fault(
            "sealed-standard-base64", "\"sealed\" is standard base64. The protocol uses base64url.",
            ["payload: pushcrypt.sealed contains \"+\" or \"/\""],
            do: "Use the URL-safe alphabet, \"-\" and \"_\", and no \"=\" at the end (RFC 4648, section 5).",
            hides: ["sealed-padded"], explains: [.failure(.malformed)])
    }

    static func sealedPercentEncoded(_ evidence: Evidence) -> Fault? {
        guard sealedForm(evidence, .percentEncoded) else { return nil }
        return Fault(
            "sealed-percent-encoded", "\"sealed\" was encoded for an address: it contains codes such as %2B.",
            ["payload: pushcrypt.sealed contains \"%\""], do: sendUnchanged,
            hides: ["sealed-standard-base64", "sealed-padded", "sealed-other-characters", "sealed-truncated"],
            explains: [.failure(.malformed)])
    }

    static func sealedWhiteSpace(_ evidence: Evidence) -> Fault? {
        guard sealedForm(evidence, .whiteSpace) else { return nil }
        return Fault(
            "sealed-white-space",
            "\"sealed\" contains spaces or line breaks: something wrapped it, or encoded it as standard base64, whose "
                + "\"+\" became a space in a form.",
            ["payload: pushcrypt.sealed contains white space"],
            do:
                "Write \"sealed\" in one line, in base64url as sealing returned it. If a relay decodes forms, send "
                + "JSON instead.", hides: ["sealed-padded"], explains: [.failure(.malformed)])
    }

    /// `sealed` is empty or isn't a string.
    static func sealedUnusable(_ evidence: Evidence) -> Fault? {
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
                : "") + sendUnchanged, explains: [.failure(.malformed)])
    }

    static func sealedHexadecimal(_ evidence: Evidence) -> Fault? {
        guard sealedForm(evidence, .hexadecimal) else { return nil }
        return Fault(
            "sealed-hexadecimal", "\"sealed\" is hexadecimal. The protocol uses base64url.",
            ["payload: pushcrypt.sealed contains only hexadecimal digits"],
            do: "Something decoded \"sealed\" and encoded it again: use base64url without \"=\" (RFC 4648, section 5).",
            explains: damage)
    }

    static func sealedCaseChanged(_ evidence: Evidence) -> Fault? {
        let isLower = sealedForm(evidence, .lowerCase)
        guard isLower || sealedForm(evidence, .upperCase) else { return nil }
        return Fault(
            "sealed-case-changed", "Something changed the case of letters in \"sealed\", so the message is destroyed.",
            ["payload: pushcrypt.sealed contains no \(isLower ? "capital" : "small") letter"],
            do:
                "Look for a database, header or template that writes texts in \(isLower ? "lower" : "upper") case. In "
                + "base64url, capital and small letters differ.", hides: ["key-id-case-changed"], explains: damage)
    }

    static func sealedOtherCharacters(_ evidence: Evidence) -> Fault? {
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
                    + (others.count == 1 ? "isn't base64url" : "aren't base64url")
                    + (hasDash ? ", such as a typographic dash" : "")
            ],
            do: (hasDash ? "An editor, mail or chat program replaced \"-\" by a longer dash. " : "") + sendUnchanged,
            explains: [.failure(.malformed)])
    }

    /// Lengths at which databases, logs and tools cut a text.
    private static let usualLimits = [
        100, 128, 160, 191, 200, 250, 255, 256, 300, 400, 500, 512, 767, 768, 1_000, 1_023, 1_024, 1_500, 2_000, 2_047,
        2_048,
        3_000, 4_000,
    ]
    /// PROTOCOL section 5.
    private static let paddedTo = 128

    /// The number of characters, if it is a usual limit and not the length of a padded message.
    static func usualLength(_ evidence: Evidence) -> Int? {
        guard let count = evidence.payload.sealedCharacters?.count, usualLimits.contains(count),
            let bytes = evidence.payload.sealed?.bytes, !isPadded(bytes.count, evidence.payload.skid != nil)
        else { return nil }
        return count
    }

    static func sealedTruncated(_ evidence: Evidence) -> Fault? {
        let payload = evidence.payload
        guard let sealed = payload.sealed, let count = payload.sealedCharacters?.count, count > 0,
            evidence.trial?.differences == nil,
            !sealed.forms.contains(where: \.hasOwnName)
        else { return nil }
        let seen = "payload: pushcrypt.sealed has \(count) characters"
        let advice =
            "Look for a limit where the payload is stored, queued or logged, for example a database column of 255 "
            + "characters. A sealed push has up to 4096 bytes. Don't copy payloads from a log that shortens them."
        let cause = "\"sealed\" seems to be cut off or damaged: it isn't what sealing wrote."
        let proof: String
        if payload.sealedEndsWithDots {
            proof = " and ends with dots"
        } else if sealed.forms.contains(.damaged) {
            proof = ", which isn't whole base64url"
        } else if let bytes = sealed.bytes, bytes.count < Suite.shared.overheadByteCount + 2 {
            proof = ", fewer than the shortest message has"
        } else {
            // A whole message can have such a length, too. If it doesn't open, `undecryptable` names the length.
            guard usualLength(evidence) != nil, evidence.trial?.lacksDevice != false else { return nil }
            return Fault(
                .warning, "sealed-truncated", cause, [seen + ", a usual limit of databases and logs"],
                do: advice + evidence.asking(for: .keys) { " \($0) of a test device shows whether it opens." })
        }
        return Fault(
            "sealed-truncated", cause, [seen + proof], do: advice, hides: ["undecryptable"], explains: damage)
    }

    /// Whether sealing pads to this length by default, in any suite.
    private static func isPadded(_ byteCount: Int, _ isSigned: Bool) -> Bool {
        return Suite.allCases.contains { suite in
            let count = byteCount - Envelope.overheadByteCount(suite, isSigned: isSigned)
            return count > 0 && count.isMultiple(of: paddedTo)
        }
    }
}
