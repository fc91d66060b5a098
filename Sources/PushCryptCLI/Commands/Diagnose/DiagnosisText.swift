import PushCryptCore

/// The findings for people: the first one with what to do, and what was also seen.
struct DiagnosisText {
    /// Narrower terminals break the lines.
    private static let smallestWidth = 40

    let findings: [Finding]
    let facts: Facts
    let terminal: TerminalText

    var text: String {
        let width = StandardStreams.columns(atLeast: Self.smallestWidth)
        func wrapped(_ label: String, _ text: String, _ indent: Int) -> [String] {
            terminal.wrapped(label, text, indent: indent, width: width)
        }
        var lines: [String] = []
        for (index, finding) in findings.enumerated() {
            if index == 1 { lines += [terminal.styled("Also seen, perhaps as effects:", .faint), ""] }
            let label = terminal.label(finding.severity.rawValue, finding.severity.style, width: 9)
            lines.append(label + terminal.styled(finding.name.rawValue, .heading))
            lines += wrapped("         ", finding.cause, 9)
            lines += finding.evidence.flatMap { wrapped("         seen:   ", $0, 17) }
            lines += wrapped("         do:     ", finding.advice, 17) + [""]
        }
        if findings.first?.severity != .error {
            let result =
                findings.isEmpty ? "Nothing wrong was found in what was given." : "No error in what was given."
            lines += wrapped("", result, 0)
            lines += wrapped("", opening, 0)
            let record = [payloadKey, facts.record].compactMap(\.self).first { $0.kid == facts.payload.kid }
            if let postQuantum = record?.algorithm.suite?.postQuantumText(hasPSK: record?.hasPSK == true) {
                lines += wrapped("", "post-quantum: \(postQuantum)", 9)
            }
        }
        if !missing.isEmpty { lines += wrapped("", "To check more, give \(missing.listed(with: "or")).", 0) }
        return lines.joined(separator: "\n") + (lines.last == "" ? "" : "\n")
    }

    /// Whether the push was opened: without it, nothing shows that it is complete and was sealed for the topic.
    private var opening: String {
        guard facts.trial?.differences == [], let topic = facts.expectedTopic else {
            return
                "The push wasn't opened, so it may be incomplete or sealed for another topic: this needs its key "
                + "and topic."
        }
        let isVerified = facts.payload.skid == nil || facts.trial?.hasValidSignature != nil
        return "The push opens for \(topic)" + (isVerified ? "." : ", and its signature wasn't verified.")
    }

    private var payloadKey: KeyRecord? { facts.payload.kid.flatMap { facts.keys?.entry($0) }?.record }

    /// The options of the inputs that weren't given.
    private var missing: [String] {
        let inputs: [(String, Bool)] = [
            ("--topic", facts.topic != nil), ("--headers", facts.headers != nil),
            ("--registration", facts.registration != nil), ("--report", facts.report != nil),
            ("--trust", facts.trusted != nil), ("--keys", facts.hasKeys), ("--app", facts.app != nil),
        ]
        return inputs.filter { !$0.1 }.map(\.0)
    }
}
