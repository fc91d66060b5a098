import PushCryptPrimitives

/// The encrypted payload: an ordinary APNs payload, which is kept byte for byte.
package struct InnerPayload: Sendable {
    package let text: JSONText
    /// The number of padding bytes at the end of an opened message.
    package private(set) var paddingByteCount = 0
    /// The longest JSON in bytes, without padding. In a message, the header counts too.
    package static let maximumByteCount = 262_144
    /// The largest number of JSON values, without names. It limits memory: the index entry of a value can be longer than
    /// its text.
    package static let maximumValueCount = 16_384

    /// Why nothing of the payload of a Live Activity is opened.
    package static let liveActivity = "the payload is that of a Live Activity, for which iOS runs no extension"

    /// Why a sender refuses the payload of a Live Activity, with an alert or without one.
    package static let liveActivityReason =
        liveActivity
        + ": sealed, it would never update the activity; send it without pushcrypt and without private content"

    /// Why JSON is not an inner payload.
    package struct Flaw: Error, Equatable, Sendable {
        package let reason: String
    }

    /// Reads a payload, for sealing and for opening.
    /// - Throws: `JSONError` for bytes that aren't strict JSON, `Flaw` for JSON that isn't an alert payload or is too large.
    package init(json: [UInt8]) throws {
        let text = try Self.text(json)
        guard text.root.kind == .object else { throw Flaw(reason: "the payload is not a JSON object") }
        guard let aps = text.root["aps"], aps.kind == .object else {
            throw Flaw(reason: "the payload has no aps object")
        }
        guard AlertText.isVisible(in: aps["alert"]) else {
            throw Flaw(
                reason: aps.isOfLiveActivity
                    ? Self.liveActivityReason
                    : "aps.alert has no title, subtitle, body, loc-key or title-loc-key with a visible character: "
                        + "there is nothing to show")
        }
        self.text = text
    }

    private static func text(_ json: [UInt8]) throws -> JSONText {
        do throws(JSONError) {
            return try JSONText(json, maximumCount: maximumByteCount, maximumValueCount: maximumValueCount)
        } catch {
            switch error.code {
            case .tooLong: throw Flaw(reason: "the payload has more than \(maximumByteCount) bytes")
            case .tooManyValues:
                throw Flaw(
                    reason: "the payload has more than \(maximumValueCount) JSON values: the value at byte "
                        + "\(error.byteOffset) exceeds the limit")
            default: throw error
            }
        }
    }

    package var aps: JSONValue? { text.root["aps"] }

    /// The header that sealing added; nil if there is none or if it is malformed.
    /// - Parameter proof: of the message's sender. If it is empty, instructions are ignored.
    package func header(proof: SenderProof) -> MessageHeader? {
        let header = MessageHeader(text.root[MessageHeader.name], proof: proof)
        return header?.extras.badgeIncrement != nil && hasBadge ? nil : header
    }

    /// Whether the payload sets the badge, which a message with an increment can't do.
    package var hasBadge: Bool { aps?["badge"] != nil }

    /// Returns the message: the payload with `header`, not padded.
    /// - Throws: `Flaw` if the payload already has a `pushcrypt` member, or a badge while `header` has an increment.
    package func message(with header: MessageHeader) throws -> [UInt8] {
        try requireNoHeader()
        guard header.extras.badgeIncrement == nil || !hasBadge else {
            throw Flaw(
                reason: "the payload has aps.badge and the message an increment of the badge: only one is allowed")
        }
        return try text.appendingToRoot(rawMember: header.rawMember)
    }

    /// - Throws: `Flaw` if the payload has a `pushcrypt` member.
    package func requireNoHeader() throws {
        guard text.root[MessageHeader.name] == nil else {
            throw Flaw(reason: "the payload already has a pushcrypt member: was it sealed before?")
        }
    }

    /// The payload without the header, as its sender wrote it.
    package var withoutHeader: [UInt8] { text.removingFromRoot(MessageHeader.name) }

    /// Reads an opened message.
    /// - Throws: `FailureClass.malformed`.
    package init(message: consuming [UInt8]) throws(FailureClass) {
        let count = message.count
        let end = message.lastIndex { $0 != paddingByte } ?? -1
        message.removeLast(count - end - 1)
        do {
            try self.init(json: message)
        } catch {
            throw .malformed
        }
        paddingByteCount = count - text.bytes.count
    }
}

/// An inner payload as the plaintext of a blob (PROTOCOL section 6). Spaces pad it to a multiple of 4 KiB, so that the
/// blob's length reveals less.
package enum OffloadedPayload {
    package static let multipleInBytes = 4_096

    /// - Parameter json: an inner payload without a `pushcrypt` member.
    /// - Throws: `JSONError`, `InnerPayload.Flaw`.
    package static func plaintext(json: [UInt8]) throws -> [UInt8] {
        let payload = try InnerPayload(json: json)
        try payload.requireNoHeader()
        let padding = (multipleInBytes - json.count % multipleInBytes) % multipleInBytes
        // The longest payload is a multiple of 4 KiB, so padding never makes it too long for a reference.
        return json + [UInt8](repeating: paddingByte, count: padding)
    }

    /// - Throws: `FailureClass.malformed`, also for a payload with a `pushcrypt` member: only a message has one, so an
    ///   offloaded payload can't refer to another blob.
    package static func innerPayload(plaintext: [UInt8]) throws(FailureClass) -> InnerPayload {
        guard plaintext.count <= OffloadReference.maximumSize else { throw .malformed }
        let payload = try InnerPayload(message: plaintext)
        guard (try? payload.requireNoHeader()) != nil else { throw .malformed }
        return payload
    }
}
