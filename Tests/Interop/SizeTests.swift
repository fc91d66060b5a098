import PushCryptSender
import PushCryptTestSupport
import Testing

/// Both implementations have the same size limits, to the byte, and refuse to seal the same payloads.
@Suite(.enabled(if: Python.isAvailable, Python.missing)) struct SizeTests {
    private static let limit = 700

    private static func push(bodyOf count: Int, _ padding: Request.Padding) -> Push {
        let body = String(repeating: "x", count: count)
        return Push(
            description: "\(count)", inner: #"{"aps":{"alert":"\#(body)"}}"#, padding: padding, limit: limit)
    }

    /// The payload's length; nil if it is refused as too large.
    private static func byteCount(_ push: Push, _ channel: Channel) throws -> Int? {
        do {
            return try push.seal(channel, Backends.openSSL.backend).count
        } catch let error as SenderError where error.code == .tooLarge {
            #expect((error.bytesNeeded ?? 0) > limit)
            #expect(error.bytesAvailable == limit)
            return nil
        }
    }

    /// The longest body that fits, and its neighbours.
    @Test("both implementations accept and refuse the same sizes", arguments: Channel.all)
    func boundary(channel: Channel) throws {
        var (fitting, refused) = (1, 4_096)
        while refused - fitting > 1 {
            let middle = (fitting + refused) / 2
            if try Self.byteCount(Self.push(bodyOf: middle, .none), channel) != nil {
                fitting = middle
            } else {
                refused = middle
            }
        }
        for count in (fitting - 3)...(fitting + 3) {
            for padding in [Request.Padding.none, .multiple(128), .limit] {
                let push = Self.push(bodyOf: count, padding)
                let reference = try push.reference(channel)
                #expect(reference.error == (count > fitting ? "tooLarge" : nil), "\(count) of \(fitting)")
                #expect(try Self.byteCount(push, channel) == reference.payload?.utf8.count, "\(count) of \(fitting)")
            }
        }
    }

    @Test(
        "both implementations refuse a payload without content",
        arguments: [
            "", "{}", "[]", "x", #"{"aps":{}}"#, #"{"aps":{"alert":""}}"#, #"{"aps":{"alert":{"title":1}}}"#,
            #"{"aps":{"alert":{"subtitle-loc-key":"x"}}}"#, #"{"aps":{"content-available":1}}"#, #"{"aps":[]}"#,
            #"{"aps":{"alert":"x"},"pushcrypt":1}"#, #"{"aps":{"alert":"x"},"\u0070ushcrypt":null}"#,
            #"{"aps":{"alert":"x"},"a":1,"a":1}"#, #"{"aps":{"alert":"x"}}x"#, #"{"aps":{"alert":"\ud800"}}"#,
            "\u{FEFF}{\"aps\":{\"alert\":\"x\"}}", #"{"aps":{"alert":"x"},}"#, #"{"aps":{"alert":"x"},"a":01}"#,
            #"{"aps":{"alert":"x","event":"update"}}"#, #"{"aps":{"alert":"x","content-state":{}}}"#,
            #"{"aps":{"alert":"x","attributes":{}}}"#, #"{"aps":{"alert":"x","attributes-type":"T"}}"#,
        ])
    func nothingToSeal(inner: String) throws {
        let (push, channel) = (Push(description: inner, inner: inner), Channel("p256", isSigned: false))
        #expect(try push.reference(channel).error == "malformed")
        let error = #expect(throws: SenderError.self) { try push.seal(channel, Backends.openSSL.backend) }
        #expect(error?.code == .invalidPayload)
    }

    @Test("both implementations refuse the same lifetimes", arguments: [0, -1, Push.window + 1])
    func lifetime(seconds: Int64) throws {
        let push = Push(description: "", expires: seconds)
        let channel = Channel("shared", isSigned: false)
        #expect(try push.reference(channel).error == "invalidArgument")
        let error = #expect(throws: SenderError.self) { try push.seal(channel, Backends.openSSL.backend) }
        #expect(error?.code == .invalidOption)
    }

    @Test(
        "both implementations refuse to expose a member that is absent or of another type",
        arguments: [
            ("badge", "1.5"), ("badge", #""1""#), ("badge", "-0"), ("badge", "9007199254740992"), ("sound", "[]"),
            ("sound", #"{"critical":2}"#), ("sound", #"{"volume":1.01}"#), ("sound", #"{"x":1}"#),
            ("interruption-level", #""x""#), ("relevance-score", "1e400"), ("thread-id", "{}"), ("x", "{}"),
            ("x", "null"),
            ("content-available", "1.0"), ("not-badge", "absent"),
        ])
    func notExposable(name: String, value: String) throws {
        let member = value == "absent" ? "" : #","\#(name)":\#(value)"#
        let push = Push(description: "", inner: #"{"aps":{"alert":"x"\#(member)}}"#, exposed: [name])
        let channel = Channel("shared", isSigned: false)
        #expect(try push.reference(channel).error == "notExposable")
        let error = #expect(throws: SenderError.self) { try push.seal(channel, Backends.openSSL.backend) }
        #expect(error?.code == .notExposable)
    }

    @Test(
        "neither implementation exposes a content-available that isn't 1",
        arguments: [#"{"x":"SECRET"}"#, "1.0", "true", "10"])
    func hint(value: String) throws {
        let push = Push(description: "", inner: #"{"aps":{"alert":"x","content-available":\#(value)}}"#)
        let channel = Channel("shared", isSigned: false)
        #expect(try !#require(push.reference(channel).payload).contains("content-available"))
        let own = try push.seal(channel, Backends.openSSL.backend)
        #expect(!String(decoding: own, as: UTF8.self).contains("content-available"))
    }

    @Test(
        "both implementations refuse the same names of exposed members",
        arguments: ["alert", "mutable-content", "", "a b"])
    func notAName(name: String) throws {
        let push = Push(description: "", exposed: [name])
        let channel = Channel("x25519", isSigned: true)
        #expect(try push.reference(channel).error == "invalidArgument")
        let error = #expect(throws: SenderError.self) { try push.seal(channel, Backends.openSSL.backend) }
        #expect(error?.code == .invalidOption)
    }
}
