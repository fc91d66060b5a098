import PushCryptTestSupport

/// Random APNs payloads: an alert and random other members.
struct RandomPayload {
    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    mutating func json() -> String {
        var members = (0..<below(4)).map { "\"m\($0)\"\(space()):\(value(depth: 3))" }
        var aps = (0..<below(3)).map { "\"a\($0)\":\(value(depth: 2))" }
        // For tests that expose members.
        aps.append("\"badge\":\(below(100))")
        aps.insert("\"alert\"\(space()):\(alert())", at: below(aps.count + 1))
        members.insert("\"aps\":\(space())\(object(aps))", at: below(members.count + 1))
        return space() + object(members)
    }

    private mutating func alert() -> String {
        guard below(3) > 0 else { return "\"x\(characters())\"" }
        return object(["\"title\":\"\(characters())\"", "\"body\":\"x\(characters())\""])
    }

    private mutating func value(depth: Int) -> String {
        switch below(depth > 0 ? 7 : 5) {
        case 0: "null"
        case 1: below(2) == 0 ? "true" : "false"
        case 2, 3: ["0", "-1.50", "1e400", "12345678901234567890", "0.1E-7", "-0"][below(6)]
        case 4: "\"\(characters())\""
        case 5: "[" + (0..<below(4)).map { _ in value(depth: depth - 1) }.joined(separator: ",\(space())") + "]"
        default: object((0..<below(3)).map { "\"\($0)\":\(value(depth: depth - 1))" })
        }
    }

    private mutating func object(_ members: [String]) -> String {
        "{\(space())\(members.joined(separator: "\(space()),"))\(space())}"
    }

    private mutating func characters() -> String {
        let pieces = [
            "a", "é", "e\u{301}", "😀", "\\n", "\\u0000", "\\ud83d\\ude00", "\\\"", "\\/", "/", "\u{2028}", " ",
        ]
        return (0..<below(6)).map { _ in pieces[below(pieces.count)] }.joined()
    }

    private mutating func space() -> String {
        below(4) > 0 ? "" : [" ", "\n", "\t", "\r\n"][below(4)]
    }

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
}
