import PushCryptCore
import PushCryptPrimitives

/// The members of `pushcrypt`.
extension ReceivedPayload {
    /// The alterations of `sealed` that can be undone.
    enum SealedForm: Hashable {
        case intact, padded, standardBase64, percentEncoded, whiteSpace
        /// Alterations that the characters show, and that can't be undone.
        case hexadecimal, lowerCase, upperCase, otherCharacters
        /// Characters are missing, or it isn't base64 at all.
        case damaged

        /// Whether a fault of its own names this alteration, so that it isn't reported as truncated.
        var hasOwnName: Bool {
            switch self {
            case .hexadecimal, .lowerCase, .upperCase, .otherCharacters: true
            default: false
            }
        }
    }

    /// Why the extension couldn't restore it, in the `userInfo` of a delivered notification; nil for other payloads.
    var reportedFailure: FailureClass? {
        guard let envelope, envelope["status"]?.isString("failed") == true else { return nil }
        return envelope["reason"]?.string.map(FailureClass.init(rawValue:))
    }

    var kid: KeyID? { envelope?["kid"]?.utf8.flatMap(KeyID.init(utf8:)) }
    var skid: KeyID? { envelope?["skid"]?.utf8.flatMap(KeyID.init(utf8:)) }
    var sealedCharacters: ArraySlice<UInt8>? { envelope?["sealed"]?.utf8 }

    /// The bytes of `sealed`, with alterations undone, and the alterations.
    var sealed: (bytes: [UInt8]?, forms: [SealedForm])? {
        guard let characters = sealedCharacters else { return nil }
        if let form = Self.form(ofAlphabet: characters) { return (nil, [form]) }
        if let bytes = Base64URL.decode(characters), !bytes.isEmpty { return (bytes, [.intact]) }
        var forms: [SealedForm] = []
        var decoded = Array(characters)
        // Some senders encode twice: %252B.
        for _ in 0..<3 {
            let next = Self.removingPercentCodes(decoded)
            if next != decoded, !forms.contains(.percentEncoded) { forms.append(.percentEncoded) }
            decoded = next
        }
        var text = String(decoding: decoded, as: UTF8.self)
        if text.utf8.contains(where: \.isWhiteSpace) {
            forms.append(.whiteSpace)
            // A form decoder makes a space of each plus; a line break is added.
            text = String(
                decoding: text.utf8.filter { $0 == 0x20 || !$0.isWhiteSpace }.map { $0 == 0x20 ? 0x2b : $0 },
                as: UTF8.self)
        }
        if text.utf8.contains(where: { $0.isOne(of: "+/") }) { forms.append(.standardBase64) }
        if text.utf8.last == UInt8(ascii: "=") { forms.append(.padded) }
        if !sealedEndsWithDots, !text.utf8.allSatisfy({ $0.isAlphanumeric || $0.isOne(of: "-_+/=") }) {
            return (nil, forms + [.otherCharacters])
        }
        let bytes = Base64.decode(Array(text.utf8).bytes, .any).map { Array($0.bytes) }
        return (bytes, bytes == nil ? forms + [.damaged] : forms)
    }

    /// Whether a log or a tool shortened it.
    var sealedEndsWithDots: Bool {
        guard let characters = sealedCharacters else { return false }
        return characters.suffix(3).elementsEqual("...".utf8) || characters.suffix(3).elementsEqual("…".utf8)
    }

    /// A form that the set of characters shows. Base64url of 64 characters or more has small and capital letters with near
    /// certainty.
    private static func form(ofAlphabet characters: ArraySlice<UInt8>) -> SealedForm? {
        guard characters.count >= 64 else { return nil }
        let hasSmall = characters.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        let hasCapital = characters.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        guard hasSmall != hasCapital else { return nil }
        if characters.allSatisfy({ $0.isOne(of: hasSmall ? "0123456789abcdef" : "0123456789ABCDEF") }) {
            return .hexadecimal
        }
        return hasSmall ? .lowerCase : .upperCase
    }

    /// Replaces `%` and two hexadecimal digits by the character.
    private static func removingPercentCodes(_ text: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, rest.prefix(2).allSatisfy(\.isAlphanumeric),
                let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                output.append(code)
                rest = rest.dropFirst(2)
            } else {
                output.append(byte)
            }
        }
        return output
    }
}
