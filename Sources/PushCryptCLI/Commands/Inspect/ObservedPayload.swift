import PushCryptCore
import PushCryptExtension

/// What an observer of a payload sees.
struct ObservedPayload {
    private let text: JSONText
    private let breakdown: PayloadBreakdown
    private let opened: OpenedPush?
    private let paddingCharacters: Int?

    /// - Parameter opened: nil if the payload wasn't opened.
    init(_ text: JSONText, opened: OpenedPush?) {
        self.text = text
        breakdown = PayloadBreakdown(text)
        self.opened = opened
        paddingCharacters = opened.map { [breakdown] in
            breakdown.ciphertextCharacters(ofPadding: $0.paddingByteCount)
        }
    }

    func json(limitInBytes: Int) -> JSONObject {
        let bytes: JSONObject = [
            "total": breakdown.byteCount, "limit": limitInBytes, "placeholder": breakdown.placeholder,
            "envelope": breakdown.envelope, "ciphertext": breakdown.ciphertext - (paddingCharacters ?? 0),
            "free": max(limitInBytes - breakdown.byteCount, 0),
        ]
        let json: JSONObject = [
            "sealed": envelope != nil, "visibleApsMembers": text.root["aps"]?.members.map(\.name) ?? [],
            "visibleMembers": text.root.members.map(\.name),
            "bytes": bytes.adding(ifKnown: ["padding": paddingCharacters]),
        ]
        return json.adding(ifKnown: [
            "version": envelope?["v"]?.protocolInteger, "kid": envelope?["kid"]?.string,
            "skid": envelope?["skid"]?.string, "sealedByteCount": sealedByteCount,
            "id": opened?.messageID, "suite": opened?.suite.name,
            "postQuantum": opened?.suite.isPostQuantum,
            "retract": opened.flatMap { $0.retractedMessageIDs.isEmpty ? nil : $0.retractedMessageIDs },
            "quiet": opened?.isQuiet == true ? true : nil, "badgeAdd": opened?.badgeIncrement,
            "avatar": opened?.avatar == nil ? nil : true, "notes": notes.isEmpty ? nil : notes,
        ])
    }

    func text(_ terminal: TerminalText, limitInBytes: Int) -> String {
        var lines = [terminal.styled("What an observer can read", .heading)]
        for member in text.root["aps"]?.members.map({ $0 }) ?? [] {
            lines += row("aps." + TerminalText.harmless(member.name.utf8), member.value.rawBytes)
        }
        for member in text.root.members where !["aps", "pushcrypt"].contains(member.name) {
            lines += row(TerminalText.harmless(member.name.utf8), member.value.rawBytes)
        }
        if let envelope {
            lines += row("version", envelope["v"]?.rawBytes)
            lines += row("sealed to key", envelope["kid"]?.utf8)
            lines += row("signed by key", envelope["skid"]?.utf8 ?? Array("none".utf8)[...])
            lines += row("sealed", Array("\(sealedByteCount ?? 0) bytes".utf8)[...])
        } else {
            lines.append("  " + terminal.styled("not sealed: an observer can read all of it", .bad))
        }
        if let opened {
            lines += ["", terminal.styled("In the message", .heading)] + row("id", Array(opened.messageID.utf8)[...])
            lines += row("post-quantum", Array(opened.postQuantumText.utf8)[...])
            if let note = opened.note { lines.append("  " + note) }
        }
        if !notes.isEmpty { lines += ["", terminal.styled("Notes", .heading)] + notes.map { "  " + $0 } }
        lines += ["", terminal.styled("Byte budget", .heading)]
        let barWidth = min(64, StandardStreams.columns(atLeast: 24) - 2)
        lines.append(
            BudgetBar(breakdown, padding: paddingCharacters, limitInBytes: limitInBytes).text(terminal, width: barWidth)
        )
        return lines.joined(separator: "\n") + "\n"
    }

    /// What a device ignores or changes of the visible payload, and of the one in the message.
    private var notes: [String] {
        let inner = opened.flatMap { try? JSONText($0.payload) }
        return PayloadWarning.all(in: text.root, isOuter: envelope != nil).map(\.description)
            + (inner.map { PayloadWarning.all(in: $0.root).map { "in the message, \($0)" } } ?? [])
    }

    private var envelope: JSONValue? { try? EnvelopePlaces.all.envelope(in: text.root) }

    private var sealedByteCount: Int? { envelope?["sealed"]?.utf8.flatMap(Base64URL.decode)?.count }

    private func row(_ name: String, _ value: ArraySlice<UInt8>?) -> [String] {
        let shown = TerminalText.harmless((value ?? []).prefix(200)) + ((value?.count ?? 0) > 200 ? "…" : "")
        let label = "  " + name + String(repeating: " ", count: max(22 - name.count, 1))
        let width = StandardStreams.wrappingColumns
        guard label.columnCount + 12 <= width else { return [label, "    " + shown] }
        return TerminalText(isColourful: false).wrapped(label, shown, indent: label.columnCount, width: width)
    }
}

struct BudgetBar {
    typealias Part = (name: String, byteCount: Int, character: Character, style: TerminalText.Style, meaning: String)

    let parts: [Part]
    let limitInBytes: Int
    let byteCount: Int

    /// - Parameter padding: how many of the ciphertext's characters are padding; nil if unknown.
    init(_ breakdown: PayloadBreakdown, padding: Int?, limitInBytes: Int) {
        let ciphertext = breakdown.ciphertext - (padding ?? 0)
        let sealed: [Part] = [
            ("placeholder", breakdown.placeholder, "▒", .placeholder, "the alert that everybody may read"),
            (
                "envelope", breakdown.envelope, "▓", .envelope,
                "names, braces, key ids, and members that were exposed"
            ),
            (
                "ciphertext", ciphertext, "█", .ciphertext,
                "the encrypted message with its key and signature, as base64url"
            ),
        ]
        let blurring = "makes messages of different lengths look alike, as base64url"
        let free: Part = ("free", max(limitInBytes - breakdown.byteCount, 0), "·", .faint, "left for longer texts")
        parts = sealed + (padding.map { [("padding", $0, "░", .padding, blurring)] } ?? []) + [free]
        self.limitInBytes = limitInBytes
        byteCount = breakdown.byteCount
    }

    func text(_ terminal: TerminalText, width: Int = 64) -> String {
        let total = max(limitInBytes, byteCount, 1)
        var bar = ""
        var start = 0
        for part in parts {
            let end = start + part.byteCount
            let cells = end * width / total - start * width / total
            bar += terminal.styled(String(repeating: part.character, count: cells), part.style)
            start = end
        }
        let legend = parts.map { part in
            "  \(terminal.styled(String(part.character), part.style)) \(part.name.padded(to: 11))  "
                + String(part.byteCount).leftPadded(to: 5)
        }
        let over = byteCount > limitInBytes ? ", \(byteCount - limitInBytes) over the limit" : ""
        return (["  \(bar)", "  \(byteCount) of \(limitInBytes) bytes\(over)"] + legend).joined(separator: "\n")
    }
}
