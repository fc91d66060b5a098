import PushCryptCore

/// The byte budget of a payload as a bar with a legend.
struct BudgetBar {
    struct Part {
        let name: String
        let byteCount: Int
        let character: Character
        let style: TerminalText.Style
    }

    let parts: [Part]
    let limitInBytes: Int
    let byteCount: Int

    /// - Parameter padding: how many of the ciphertext's characters are padding; nil when nobody knows.
    init(_ anatomy: PayloadBreakdown, padding: Int?, limitInBytes: Int) {
        let ciphertext = anatomy.ciphertext - (padding ?? 0)
        var parts = [
            Part(name: "placeholder", byteCount: anatomy.placeholder, character: "▒", style: .placeholder),
            Part(name: "envelope", byteCount: anatomy.envelope, character: "▓", style: .envelope),
            Part(name: "ciphertext", byteCount: ciphertext, character: "█", style: .ciphertext),
        ]
        if let padding {
            parts.append(Part(name: "padding", byteCount: padding, character: "░", style: .padding))
        }
        let free = max(limitInBytes - anatomy.byteCount, 0)
        parts.append(Part(name: "free", byteCount: free, character: "·", style: .faint))
        self.parts = parts
        self.limitInBytes = limitInBytes
        byteCount = anatomy.byteCount
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
            let name = part.name.padding(toCount: 11)
            let digits = String(part.byteCount)
            return "  \(terminal.styled(String(part.character), part.style)) \(name)  "
                + String(repeating: " ", count: max(5 - digits.count, 0)) + digits
        }
        let over = byteCount > limitInBytes ? ", \(byteCount - limitInBytes) too many" : ""
        return (["  \(bar)", "  \(byteCount) of \(limitInBytes) bytes\(over)"] + legend).joined(separator: "\n")
    }
}

extension String {
    fileprivate func padding(toCount count: Int) -> String {
        self + String(repeating: " ", count: max(count - self.count, 0))
    }
}
