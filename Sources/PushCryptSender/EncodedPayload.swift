public import PushCryptCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A notification that is encoded as JSON and checked, for many recipients; see ``Sealer/encode(_:)``.
public struct EncodedPayload: Sendable {
    let inner: InnerPayload
    /// What devices ignore or change of the payload; see ``SealedPush/warnings``.
    public let warnings: [PayloadWarning]

    /// The length of the JSON in bytes.
    public var byteCount: Int { inner.text.bytes.count }

    /// - Throws: `SenderError` with `invalidPayload`.
    init(json: [UInt8]) throws(SenderError) {
        do {
            inner = try InnerPayload(json: json)
            // Sealing adds this member.
            try inner.requireNoHeader()
        } catch {
            throw SenderError(error)
        }
        guard inner.aps?.isOfLiveActivity != true else {
            throw SenderError(.invalidPayload, InnerPayload.liveActivityReason)
        }
        warnings = PayloadWarning.all(in: inner.text.root)
    }

    /// - Throws: `SenderError` with `invalidPayload`; what the encoding of `payload` throws.
    init(_ payload: some Encodable, _ encoder: JSONEncoder) throws {
        try self.init(json: Self.json(payload, encoder))
    }

    /// Bytes and strings are JSON already.
    static func json(_ payload: some Encodable, _ encoder: JSONEncoder) throws -> [UInt8] {
        switch payload {
        case let bytes as [UInt8]: return bytes
        case let data as Data: return Array(data)
        case let text as String: return Array(text.utf8)
        case let bytes as any Collection<UInt8>: return Array(bytes)
        default: break
        }
        let json = Array(try encoder.encode(payload))
        guard json.first != UInt8(ascii: "\"") else {
            throw SenderError(
                .invalidPayload,
                "the payload encodes to a JSON string and not to an object: to seal JSON that you have in a buffer, give its "
                    + "bytes, such as Array(buffer.readableBytesView)")
        }
        return json
    }
}

extension EncodedPayload: CustomStringConvertible, CustomReflectable {
    /// The length, never the content.
    public var description: String { "payload of \(byteCount) bytes" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Sealer {
    /// Makes the encoder that a sealer uses by default: it sorts members, doesn't escape slashes, and writes dates as ISO 8601,
    /// such as `2026-11-24T09:00:00Z`.
    public static func standardEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }
}
