import PushCryptCore

/// What a sealer does with a payload that doesn't fit into a push.
///
/// ``SealedPush/isBodyShortened`` and ``SealedPush/isOffloaded`` tell what the sealer did.
public struct OversizePlan: Sendable {
    /// The shortest body, in characters without the ellipsis; nil if bodies aren't shortened.
    let minimumBodyLength: Int?
    /// Gives a blob its address; nil if payloads aren't offloaded.
    let store: (@Sendable (SealedBlob) throws -> String)?

    /// Throws `tooLarge`. The default.
    public static let refuse = OversizePlan(minimumBodyLength: nil, store: nil)

    /// Shortens `aps.alert.body` at the end of a character as the user sees it (a grapheme cluster), and appends `…`.
    ///
    /// - Parameter minimum: the smallest number of characters that stay, 1 or more. If these don't fit either, sealing throws
    ///   `tooLarge`: then other parts of the payload are too large.
    public static func shortenBody(toAtLeast minimum: Int) -> OversizePlan {
        OversizePlan(minimumBodyLength: max(minimum, 1), store: nil)
    }

    /// Shortens the body, and if that isn't enough, seals the whole payload as a blob, which the device fetches.
    ///
    /// The push of an offloaded payload has no custom members. It has the payload's `aps` with a shortened body, which is shown
    /// if the device can't fetch the blob.
    ///
    /// - Parameters:
    ///   - minimum: the smallest number of characters of the body that stay, 1 or more. If these don't fit, the payload is
    ///     offloaded.
    ///   - store: keeps the blob's bytes and returns the https address at which the device will find them. Upload them
    ///     before you send the push. It is called on the thread that seals, so it shouldn't wait for a network. Sealing
    ///     throws the errors of this function. If the push doesn't fit with the address either, sealing throws `tooLarge`,
    ///     and nothing refers to the blob.
    public static func shortenBodyOrOffload(
        toAtLeast minimum: Int, store: @escaping @Sendable (SealedBlob) throws -> String
    ) -> OversizePlan {
        OversizePlan(minimumBodyLength: max(minimum, 1), store: store)
    }
}

extension InnerPayload {
    /// The payload with only `aps`.
    ///
    /// - Throws: `JSONError`, `Flaw`.
    func withoutCustomMembers() throws -> InnerPayload {
        try InnerPayload(json: Array(#"{"aps":"#.utf8) + (aps?.rawBytes ?? []) + Array("}".utf8))
    }

    /// Cuts the body at the end of a character, so that the payload is at least `excess` bytes shorter.
    ///
    /// - Parameter minimum: the number of characters that stay, without the ellipsis.
    /// - Returns: nil if there is no literal body, or if fewer characters would stay.
    /// - Throws: `JSONError`, `Flaw`.
    package func shorteningBody(by excess: Int, toAtLeast minimum: Int) throws -> InnerPayload? {
        guard let alert = aps?["alert"] else { return nil }
        let value = alert.kind == .string ? alert : alert["body"]
        guard let value, let body = value.string,
            let json = ShortenedText.json(of: body, limitInBytes: value.range.count - excess, toAtLeast: minimum)
        else { return nil }
        return try InnerPayload(json: text.replacing([(value, json)]))
    }
}

/// The beginning of a text with an ellipsis, as a JSON string.
enum ShortenedText {
    private static let ellipsis: Character = "…"

    /// - Returns: nil if fewer than `minimum` characters of the text fit.
    static func json(of text: String, limitInBytes limit: Int, toAtLeast minimum: Int) -> [UInt8]? {
        var end = text.startIndex
        var count = 0
        // The quotes and the ellipsis.
        var byteCount = 2 + ellipsis.utf8.count
        while end < text.endIndex {
            let size = escapedByteCount(of: text[end])
            guard byteCount + size <= limit else { break }
            byteCount += size
            count += 1
            end = text.index(after: end)
        }
        guard end < text.endIndex else { return nil }
        var shortened = text[..<end]
        // Some characters, such as U+0600 ARABIC NUMBER SIGN, form one with the next.
        while !shortened.isEmpty, (shortened + [ellipsis]).count != count + 1 {
            shortened.removeLast()
            count -= 1
        }
        guard count >= minimum else { return nil }
        var json = [UInt8]()
        JSONWriter.appendString(String(shortened) + String(ellipsis), to: &json)
        return json
    }

    private static func escapedByteCount(of character: Character) -> Int {
        var json = [UInt8]()
        JSONWriter.appendString(String(character), to: &json)
        return json.count - 2
    }
}
