import PushCryptPrimitives

/// What became of one push, without its content (PROTOCOL section 12). The device sends it, and the backend reads it.
///
/// ```
/// {"id": ID [, "push": PUSH], "outcome": "opened" | CLASS, "time": UNIX SECONDS [, "kid": KID] [, "skid": KID]
///  [, "suppressed": true] [, "test": true]}
/// ID = name | name "-" CLASS | base64url(16 random bytes)          name: ReceiptName
/// ```
public struct Receipt: Hashable, Sendable {
    /// The id of the receipt. It is the same every time the receipt is sent, so that the server can ignore duplicates.
    public let id: String
    /// The name of the message; nil if the push couldn't be opened. The backend computes it from the ids of its messages with
    /// `ReceiptName(messageID:)`.
    public let name: ReceiptName?
    /// The `push_id` of the payload, at most 256 bytes; the characters of ``name`` if the payload has none. nil if the push
    /// couldn't be opened.
    public let pushID: String?
    /// Why the push wasn't restored completely; nil if it was.
    public let failure: FailureClass?
    /// When the push was opened or failed, by the device's clock.
    public let time: UnixTime
    /// The key that the push names; nil if the push was restored completely or couldn't be read.
    public let kid: KeyID?
    /// The sender key that the push names; nil if the push was restored completely, is unsigned or couldn't be read. A backend
    /// that has changed its signing key sees by it which pushes need another seal.
    public let skid: KeyID?
    /// Whether the push wasn't shown, because the app may suppress it.
    public let isSuppressed: Bool
    /// Whether the push was a self-test of the sender.
    public let isSelfTest: Bool

    /// The length limit of `push_id`. A longer one is replaced by the message's name.
    static let pushIDByteLimit = 256
    /// The longest receipt, in bytes.
    package static let maximumByteCount = 4_096
    /// The `outcome` of a push that was restored completely.
    static let openedOutcome = "opened"

    /// Makes the receipt of a push.
    ///
    /// - Parameters:
    ///   - messageID: nil for a push that couldn't be opened.
    ///   - pushID: the sender's `push_id`, of any length.
    /// - Throws: `CryptoError` if no random bytes for an id are available.
    package init(
        messageID: String?, pushID: String?, failure: FailureClass?, time: UnixTime, kid: KeyID?, skid: KeyID?,
        isSuppressed: Bool, isSelfTest: Bool
    ) throws {
        let pushName = pushID.flatMap { $0.utf8.count <= Self.pushIDByteLimit ? $0 : nil }
        name = messageID.flatMap(ReceiptName.init(messageID:))
        // App and extension get the same id if both restore the message.
        id =
            if let name {
                failure.map { "\(name)-\($0)" } ?? name.description
            } else {
                Base64URL.encode(try DefaultBackend.shared.randomBytes(count: MessageHeader.idByteCount))
            }
        self.pushID = pushName ?? name?.description
        self.failure = failure
        self.isSuppressed = isSuppressed
        self.isSelfTest = isSelfTest
        self.time = time
        self.kid = failure == nil ? nil : kid
        self.skid = failure == nil ? nil : skid
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
        append(#","outcome":"#, failure?.rawValue ?? Self.openedOutcome)
        json += #","time":\#(time.seconds)"#.utf8
        append(#","kid":"#, kid?.description)
        append(#","skid":"#, skid?.description)
        if isSuppressed { json += #","suppressed":true"#.utf8 }
        if isSelfTest { json += #","test":true"#.utf8 }
        json.append(UInt8(ascii: "}"))
        return json
    }
}
