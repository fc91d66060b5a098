import PushCryptCore

/// One line of an audit log as `keys log` shows it: whoever wrote it, nothing in it is believed.
struct LogRow: Encodable {
    /// The line's own number; null where the line isn't what a line is.
    let n: Int64?
    let at: String?
    let who: String?
    let what: String?
    let kid: String?
    let detail: String?
    let why: String?

    init(line: String) {
        let root = (try? JSONText(Array(line.utf8)))?.root
        n = root?["n"]?.protocolInteger
        at = root?["at"]?.string
        who = root?["who"]?.string
        what = root?["what"]?.string
        kid = root?["kid"]?.string
        detail = root?["detail"]?.string
        why = root?["why"]?.string
    }

    enum CodingKeys: CodingKey {
        case n, at, who, what, kid, detail, why
    }

    /// What isn't there is null, not absent.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(n, forKey: .n)
        try container.encode(at, forKey: .at)
        try container.encode(who, forKey: .who)
        try container.encode(what, forKey: .what)
        try container.encode(kid, forKey: .kid)
        try container.encode(detail, forKey: .detail)
        try container.encode(why, forKey: .why)
    }
}

extension TextTable {
    init(_ rows: [LogRow]) {
        self.init(
            ["N", "AT", "WHO", "WHAT", "KID", "DETAIL", "WHY"].map { heading in Column(heading) },
            rows.map { row in
                [row.n.map(String.init), row.at, row.who, row.what, row.kid, row.detail, row.why]
                    .map { cell in Cell(text: TerminalText.harmless((cell ?? "-").utf8)) }
            })
    }
}
