public import PushCryptCore
import PushCryptPrimitives

/// What a backend hears about one push: nothing of its content.
///
/// ```
/// {"id": ID, "push": PUSH, "outcome": "opened" | CLASS, "time": UNIX SECONDS, "kid": KID}
/// ```
/// `push` is missing where nothing is known of the push, `kid` where it was restored or couldn't be read.
public struct Receipt: Hashable, Sendable {
    /// The same however often the receipt is sent: by it the server counts once what comes twice.
    public let id: String
    /// `push_id` of the payload, or else the message id: 22 characters of base64url.
    public let pushID: String?
    /// nil for a push that was restored whole.
    public let failure: FailureClass?
    /// When the push was opened or failed.
    public let time: UnixTime
    /// The key that a push names which wasn't restored whole.
    public let kid: KeyID?

    /// A longer name of a push is left out.
    static let pushIDByteLimit = 256

    /// - Throws: `CryptoError` when there are no random bytes for an id.
    public init(_ report: DeliveryReport) throws {
        let named = report.pushID.flatMap { $0.utf8.count <= Self.pushIDByteLimit ? $0 : nil }
        id = try Self.id(report)
        pushID = named ?? report.messageID
        failure = report.failure
        time = report.time
        kid = report.failure == nil ? nil : report.kid
    }

    /// What the app and the extension both restored is one receipt.
    private static func id(_ report: DeliveryReport) throws -> String {
        guard let message = report.messageID else {
            return Base64URL.encode(try DefaultBackend.shared.randomBytes(count: MessageHeader.idByteCount))
        }
        return report.failure.map { "\(message)-\($0)" } ?? message
    }

    /// UTF-8.
    public var json: [UInt8] {
        var json = Array(#"{"id":"#.utf8)
        JSONWriter.appendString(id, to: &json)
        if let pushID {
            json += #","push":"#.utf8
            JSONWriter.appendString(pushID, to: &json)
        }
        json += #","outcome":"#.utf8
        JSONWriter.appendString(failure?.rawValue ?? "opened", to: &json)
        json += #","time":\#(time.seconds)"#.utf8
        if let kid {
            json += #","kid":"#.utf8
            JSONWriter.appendString(kid.description, to: &json)
        }
        json.append(UInt8(ascii: "}"))
        return json
    }
}
