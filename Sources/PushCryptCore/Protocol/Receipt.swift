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

/// Reading receipts, which anyone may have sent: each rule of PROTOCOL section 12 is checked.
extension Receipt {
    /// Why a text isn't a receipt.
    package struct Flaw: Error {
        package let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// - Parameter json: UTF-8 JSON. Members that the protocol doesn't define are ignored.
    package init(readingJSON json: [UInt8]) throws(Flaw) {
        try Self.checkLength(json)
        let root: JSONValue
        do { root = try JSONText(json).root } catch { throw Flaw("the receipt is not strict JSON: \(error)") }
        guard root.kind == .object else { throw Flaw("the receipt is not a JSON object") }
        try self.init(
            text: { name throws(Flaw) in try root[name].map { value throws(Flaw) in try value.text(name) } },
            time: root["time"]?.protocolInteger,
            flag: { name throws(Flaw) in
                guard let value = root[name] else { return false }
                guard value.boolean == true else { throw Flaw("\(name) isn't true") }
                return true
            })
    }

    /// - Parameter form: `application/x-www-form-urlencoded`. Fields that the protocol doesn't define are ignored.
    package init(readingForm form: [UInt8]) throws(Flaw) {
        try Self.checkLength(form)
        guard let fields = FormFields.decode(form) else {
            throw Flaw("the receipt is not a form with each field once, in UTF-8")
        }
        try self.init(
            text: { name throws(Flaw) in fields[name] },
            time: fields["time"].flatMap(Self.seconds),
            flag: { name throws(Flaw) in
                guard let value = fields[name] else { return false }
                guard value == "true" else { throw Flaw("\(name) isn't true") }
                return true
            })
    }

    /// The digits of an integer as in JSON (PROTOCOL section 2), without the white space that JSON allows.
    private static func seconds(_ text: String) -> Int64? {
        text.utf8.allSatisfy(\.isDigit) ? (try? JSONText(Array(text.utf8)))?.root.protocolInteger : nil
    }

    private static func checkLength(_ text: [UInt8]) throws(Flaw) {
        guard text.count <= maximumByteCount else { throw Flaw("a receipt has at most \(maximumByteCount) bytes") }
    }

    private init(
        text: (String) throws(Flaw) -> String?, time: Int64?, flag: (String) throws(Flaw) -> Bool
    ) throws(Flaw) {
        guard let id = try text("id"), let outcome = try text("outcome") else { throw Flaw("id or outcome is missing") }
        failure = outcome == Self.openedOutcome ? nil : FailureClass(rawValue: outcome)
        guard failure == nil || Self.isClass(outcome) else { throw Flaw("outcome is no name of a class") }
        name = try Self.name(in: id, failure)
        self.id = id
        pushID = try text("push")
        guard (pushID == nil) == (name == nil), pushID.map({ $0.utf8.count <= Self.pushIDByteLimit }) ?? true else {
            throw Flaw("push is missing, too long, or present for a push that couldn't be opened")
        }
        guard let time else { throw Flaw("time is no number of seconds") }
        self.time = UnixTime(time)
        kid = try Self.keyID("kid", text("kid"), failure)
        skid = try Self.keyID("skid", text("skid"), failure)
        isSuppressed = try flag("suppressed")
        isSelfTest = try flag("test")
    }

    private static func keyID(_ name: String, _ text: String?, _ failure: FailureClass?) throws(Flaw) -> KeyID? {
        guard let text else { return nil }
        guard let kid = KeyID(text), failure != nil else {
            throw Flaw("\(name) is no key id, or present for a push that was restored")
        }
        return kid
    }

    /// The name in `ID = name | name "-" CLASS | base64url(16 random bytes)`; nil for a random id.
    private static func name(in id: String, _ failure: FailureClass?) throws(Flaw) -> ReceiptName? {
        if failure != nil, MessageHeader.isID(id) { return nil }
        let suffix = failure.map { "-\($0)" } ?? ""
        guard let name = ReceiptName(String(id.prefix(ReceiptName.characterCount))),
            Array(id.utf8) == Array("\(name)\(suffix)".utf8)
        else { throw Flaw("id is neither a message's name with the class of the outcome nor random") }
        return name
    }

    /// `1*64(ALPHA / DIGIT / any of -._)`
    private static func isClass(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { $0.isAlphanumeric || $0.isOne(of: "-._") }
    }
}

extension JSONValue {
    fileprivate func text(_ name: String) throws(Receipt.Flaw) -> String {
        guard let string else { throw Receipt.Flaw("\(name) is not a string") }
        return string
    }
}
