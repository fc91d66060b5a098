import PushCryptExtension

/// A decrypted message and its failure class in the protocol; nil if it is valid.
struct MessageCase: Sendable, CustomStringConvertible {
    let description: String
    let bytes: [UInt8]
    let failure: FailureClass?

    private init(_ text: String, _ failure: FailureClass?) {
        (description, bytes, self.failure) = (text, Array(text.utf8), failure)
    }

    /// A message with those members in its header.
    private static func header(
        id: String? = "\"AAECAwQFBgcICQoLDA0ODw\"", iat: String? = "1800000000", exp: String? = "1800000060",
        _ failure: FailureClass? = .malformed
    ) -> MessageCase {
        let members = [("id", id), ("iat", iat), ("exp", exp)].compactMap { name, value in
            value.map { "\"\(name)\":\($0)" }
        }
        return aps(#"{"alert":"x"}"#, members.joined(separator: ","), failure)
    }

    private static func aps(
        _ aps: String, _ header: String = #""id":"AAECAwQFBgcICQoLDA0ODw","iat":1800000000,"exp":1800000060"#,
        _ failure: FailureClass? = .malformed
    ) -> MessageCase {
        MessageCase(#"{"aps":\#(aps),"pushcrypt":{\#(header)}}"#, failure)
    }

    private static let whole = header(nil).description

    static let all = [
        header(nil), header(id: nil), header(id: "null"), header(id: "\"\""), header(id: "1"),
        header(id: "\"AAECAwQFBgcICQoLDA0O\""), header(id: "\"AAECAwQFBgcICQoLDA0ODx\""),
        header(id: "\"AAECAwQFBgcICQoLDA0ODw==\""), header(id: "\"AAECAwQFBgcICQoLDA0ODxAR\""),
        header(iat: nil), header(iat: "null"), header(iat: "\"1800000000\""), header(iat: "1.8e9"),
        header(iat: "1800000000.0"), header(iat: "-1"), header(iat: "true"), header(iat: "1800000060"),
        header(iat: "1800000061"), header(iat: "9007199254740992"),
        header(exp: nil), header(exp: "null"), header(exp: "1800000000"), header(exp: "1799999999"),
        header(exp: "1802592001"), header(exp: "9007199254740991"), header(exp: "1800000060.0"),
        header(exp: "1802592000", nil), header(exp: "1800000001", nil),
        header(iat: "1799999940", exp: "1800000000", .expired), header(iat: "0", exp: "1", .expired),
        header(iat: "1797408000", exp: "1800000000", .expired), header(iat: "1797408001", exp: "1800000001", nil),
        header(iat: "1800000600", exp: "1800000601", nil), header(iat: "1800000601", exp: "1800000602", .notYetValid),
        header(iat: "9007199254740990", exp: "9007199254740991", .notYetValid),
        aps(#"{}"#), aps("null"), aps("[]"), aps("\"x\""), aps(#"{"alert":""}"#), aps(#"{"alert":null}"#),
        aps(#"{"alert":{}}"#), aps(#"{"alert":{"title":""}}"#), aps(#"{"alert":{"subtitle-loc-key":"x"}}"#),
        aps(#"{"alert":{"title":1,"body":["x"]}}"#), aps(#"{"alert":"x","alert":"x"}"#),
        MessageCase("", .malformed), MessageCase("   ", .malformed), MessageCase("x", .malformed),
        MessageCase("{}", .malformed), MessageCase("[]", .malformed), MessageCase(whole + "x", .malformed),
        MessageCase(whole + "   \n", nil), MessageCase("   " + whole, nil), MessageCase(whole + "\0", .malformed),
        MessageCase("\u{FEFF}" + whole, .malformed), MessageCase(String(whole.dropLast()), .malformed),
        MessageCase(#"{"aps":{"alert":"x"}}"#, .malformed),
        MessageCase(#"{"aps":{"alert":"x"},"pushcrypt":5}"#, .malformed),
        MessageCase(#"{"aps":{"alert":"x"},"pushcrypt":null}"#, .malformed),
    ]
}
