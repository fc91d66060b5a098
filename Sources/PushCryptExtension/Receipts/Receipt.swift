public import PushCryptCore
import PushCryptPrimitives

/// The outcome of one push for the backend, without its content.
///
/// ```
/// {"id": ID, "push": PUSH, "outcome": "opened" | CLASS, "time": UNIX SECONDS, "kid": KID, "suppressed": true}
/// ```
/// `push` is missing if the push is unknown, `kid` if the push was restored or couldn't be read, `suppressed` if the push
/// was shown.
public struct Receipt: Hashable, Sendable {
    /// The id of the receipt. It is the same every time the receipt is sent, so that the server can ignore duplicates.
    public let id: String
    /// `push_id` of the payload, or without one the ``ReceiptName`` of the message.
    public let pushID: String?
    /// Why the push wasn't restored completely; nil if it was.
    public let failure: FailureClass?
    /// When the push was opened or failed.
    public let time: UnixTime
    /// The key that the push names; nil if the push was restored completely.
    public let kid: KeyID?
    /// Whether the push wasn't shown, because the app may suppress it.
    public let isSuppressed: Bool

    /// The length limit of `push_id`. A longer one is replaced by the message's name.
    static let pushIDByteLimit = 256

    /// Creates the receipt of a report.
    ///
    /// - Throws: `CryptoError` if no random bytes for an id are available.
    public init(_ report: DeliveryReport) throws {
        let pushName = report.pushID.flatMap { $0.utf8.count <= Self.pushIDByteLimit ? $0 : nil }
        let name = report.messageID.flatMap(ReceiptName.init(messageID:))?.description
        // App and extension get the same id if both restore the message.
        id =
            if let name {
                report.failure.map { "\(name)-\($0)" } ?? name
            } else {
                Base64URL.encode(try DefaultBackend.shared.randomBytes(count: MessageHeader.idByteCount))
            }
        pushID = pushName ?? name
        failure = report.failure
        isSuppressed = report.isSuppressed
        time = report.time
        kid = report.failure == nil ? nil : report.kid
    }

    /// The receipt as JSON, UTF-8.
    public var json: [UInt8] {
        var json: [UInt8] = []
        func append(_ name: StaticString, _ value: String?) {
            guard let value else { return }
            json += "\(name)".utf8
            JSONWriter.appendString(value, to: &json)
        }
        append(#"{"id":"#, id)
        append(#","push":"#, pushID)
        append(#","outcome":"#, failure?.rawValue ?? "opened")
        json += #","time":\#(time.seconds)"#.utf8
        append(#","kid":"#, kid?.description)
        if isSuppressed { json += #","suppressed":true"#.utf8 }
        json.append(UInt8(ascii: "}"))
        return json
    }
}
