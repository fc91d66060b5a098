import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives

/// The output of `keys list` for one key.
///
/// ```
/// {the members of `keys list --json`, "keyset": PATH, "id": ID | null, "thumbprint": BASE64URL | null,
///  "log": [{"n", "at", "who", "what"}]}
/// ```
struct KeyPage {
    let status: KeyStatus
    let view: KeysetView

    private var thumbprint: String? { status.key.thumbprint.map { Base64URL.encode($0) } }
    /// The lines that name the key.
    private var lines: [(line: KeysetLine, deeds: [String])] {
        (view.log?.lines ?? []).compactMap { line in
            let changes = line.changes.keys.filter { $0.kid == status.kid }
            return changes.isEmpty ? nil : (line, changes.map(\.deed))
        }
    }

    var json: JSONObject {
        let log = lines.map { line, deeds -> JSONObject in
            ["n": line.number, "at": "\(line.at)", "who": line.who, "what": deeds.joined(separator: "; ")]
        }
        return status.json(view.kind).adding([
            "keyset": view.path, "id": view.log?.state.id.description, "thumbprint": thumbprint, "log": log,
        ])
    }

    func text(_ terminal: TerminalText, width: Int) -> String {
        func row(_ name: String, _ text: String, _ style: TerminalText.Style = .plain) -> [String] {
            terminal.wrapped("  \(name)".padded(to: 14), text, indent: 14, width: width, style)
        }
        func yes(_ condition: Bool) -> String { condition ? "yes" : "no" }
        let isSender = [.sender, .publisher].contains(view.kind)
        let moments = KeysetChanges.Moment.allCases.compactMap { moment in
            // Keys without times get the time 0.
            status.lifecycle[keyPath: moment.path].flatMap { $0 > UnixTime(0) ? (moment, $0) : nil }
        }
        let title = "Key \(status.kid) of \(view.path) at \(view.now)"
        var rows = terminal.wrapped("", title, indent: 0, width: width, .heading)
        rows += row("state", status.stateText, status.key.isLost ? .bad : .state(status.state))
        rows += row("kind", view.kind.rawValue) + row("suite", status.key.algorithm.description)
        if view.kind == .recipient { rows += row("psk", yes(status.key.demandsPSK)) }
        rows += row("thumbprint", thumbprint ?? "-")
        rows += row(isSender ? "signs" : "seals", yes(status.seals))
        rows += row(isSender ? "verifies" : "opens", yes(status.opens))
        rows += row("next", status.nextText ?? "-")
        for (moment, time) in moments {
            rows += row("\(moment.rawValue.dropLast(2))", "\(time)  \(TimeDistance.text(time, from: view.now))")
        }
        for (line, deeds) in lines {
            rows += row("line \(line.number)", "\(line.at)  \(deeds.joined(separator: "; ")), by \(line.who)")
        }
        return rows.map { $0 + "\n" }.joined()
    }
}
