import PushCryptExtension

extension BrokenPayload {
    /// Texts that a strict JSON reader refuses, and texts that it accepts.
    static func texts(_ channel: Channel) -> [BrokenPayload] {
        func extra(_ text: String, _ place: WritableKeyPath<Fields, String> = \.extra) -> String {
            var fields = Fields(channel)
            fields[keyPath: place] = text
            return fields.json
        }
        let whole = Fields(channel).json
        let refused: KeyValuePairs = [
            "nothing": "", "white space": " ", "half": String(whole.prefix(whole.count / 2)),
            "cut short": String(whole.dropLast()), "an array": "[\(whole)]", "twice": whole + whole,
            "byte order mark": "\u{FEFF}" + whole, "bytes after the end": whole + "x",
            "NUL after the end": whole + "\0",
            "no-break space after the end": whole + "\u{A0}", "vertical tab before": "\u{B}" + whole,
            "comma after the last member": extra(","), "comment": extra("/**/"), "single quotes": extra(",'x':1"),
            "duplicate": extra(",\"x\":1,\"x\":1"), "duplicate aps": extra(#","aps":{}"#),
            "duplicate, escaped": extra(#","\u0061ps":{}"#), "duplicate inside": extra(#","x":[{"y":1,"y":2}]"#),
            "duplicate kid": extra(#","kid":"AAAAAAAAAAA""#, \.extraInPushcrypt),
            "duplicate v": extra(#","v":1"#, \.extraInPushcrypt),
            "duplicate mutable-content": extra(#","mutable-content":1"#, \.extraInAps),
            "duplicate empty name": extra(#","":1,"":1"#), "high surrogate": extra(#","x":"\ud800""#),
            "low surrogate": extra(#","x":"\udc00""#), "surrogates reversed": extra(#","x":"\udc00\ud800""#),
            "surrogate in a name": extra(#","\ud800":1"#), "control character": extra(",\"x\":\"\u{1}\""),
            "bad escape": extra(#","x":"\x""#), "65 levels": extra(",\"x\":" + nested(64)),
            "NaN": extra(",\"x\":NaN"), "hexadecimal": extra(",\"x\":0x1"), "leading zero": extra(",\"x\":01"),
            "dot without digits": extra(",\"x\":1."), "True": extra(",\"x\":True"),
        ]
        let accepted: KeyValuePairs = [
            "as it is": whole, "white space around": " \t\n\r" + whole + " \t\n\r",
            "64 levels": extra(",\"x\":" + nested(63)), "other members": extra(#","x":1,"X":2"#),
            "names that only look alike": extra(",\"é\":1,\"e\u{301}\":2"),
            "future member": extra(#","new":[1,{"y":null}]"#, \.extraInPushcrypt),
            "exposed": extra(#","badge":1e400,"sound":"""#, \.extraInAps),
            "surrogate pair": extra(#","x":"\ud83d\ude00""#), "empty name": extra(#","":1"#),
            "noncharacter": extra(",\"x\":\"\u{FFFF}\u{10FFFF}\\uffff\""),
            "long number": extra(",\"x\":-0.12345678901234567890e-400"), "NUL escaped": extra(#","\u0000":"\u0000""#),
        ]
        let notUTF8: KeyValuePairs<String, [UInt8]> = [
            "lone continuation": [0x80], "overlong": [0xc0, 0xaf], "surrogate": [0xed, 0xa0, 0x80],
            "beyond Unicode": [0xf4, 0x90, 0x80, 0x80], "cut": [0xe2, 0x82], "ff": [0xff],
        ]
        let bytes = notUTF8.map { name, bytes in
            let parts = extra(",\"x\":\"?\"").split(separator: "?", maxSplits: 1)
            return BrokenPayload("UTF-8: \(name)", Array(parts[0].utf8) + bytes + Array(parts[1].utf8), .malformed)
        }
        return bytes + refused.map { BrokenPayload($0, Array($1.utf8), .malformed) }
            + accepted.map { BrokenPayload($0, Array($1.utf8), nil) }
    }

    /// Members of the root that are missing or of another type.
    static func roots(_ channel: Channel) -> [BrokenPayload] {
        let whole = Fields(channel).json
        let parts = whole.split(separator: #","pushcrypt":"#, maxSplits: 1)
        let (aps, envelope) = (String(parts[0].dropFirst(#"{"aps":"#.count)), String(parts[1].dropLast()))
        let wrongAps = ["null", "true", "1", "\"alert\"", "[]", "{}", "[\(aps)]"]
        let wrongEnvelopes = ["null", "true", "1", "\"x\"", "[]", "{}", "[\(envelope)]"]
        let notSealed = ["{}", #"{"aps":\#(aps)}"#, #"{"Pushcrypt":\#(envelope)}"#]
        let malformed = ["null", "[]", "1", #"{"pushcrypt":\#(envelope)}"#]
        let roots: [(String, FailureClass?)] =
            notSealed.map { ($0, .notSealed) } + malformed.map { ($0, .malformed) }
            + wrongAps.map { (#"{"aps":\#($0),"pushcrypt":\#(envelope)}"#, .malformed) }
            + wrongEnvelopes.map { (#"{"aps":\#(aps),"pushcrypt":\#($0)}"#, .malformed) }
        let reordered: (String, FailureClass?) = (#"{"pushcrypt":\#(envelope),"aps":\#(aps)}"#, nil)
        return (roots + [reordered]).map { text, failure in
            let name = text.replacing(envelope, with: "ENVELOPE").replacing(aps, with: "APS")
            return BrokenPayload("root \(name)", Array(text.utf8), failure)
        }
    }

    private static func nested(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
}
