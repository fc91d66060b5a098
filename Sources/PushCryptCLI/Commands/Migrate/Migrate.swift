import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptSender

struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Say what becomes of the payloads that a backend sends today, if it seals them.",
        discussion: """
            Reads plain payloads from stdin or FILE, one on each line, as they arrive at the device. Counts how many fit into a signed push of each suite and \
            carrier, with the standard placeholder: whole + with a shortened body + only offloaded. Names what stays visible, and the \
            lines that no extension will see: pushes without an alert and Live Activities aren't sealed. Prints no content.

            Exit status: 0; 65 if a line can't be sealed.

            Example: pushcrypt migrate payloads.jsonl
            """)

    @OptionGroup var input: PayloadInput
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var messages: MessageOptions

    func run() throws {
        var plan = MigrationPlan()
        let lines = try InputLines(input.path, limitInBytes: Self.limitInBytes)
        while let line = try lines.next() {
            guard !line.bytes.isEmpty else { continue }
            plan.add(Array(line.bytes), line: line.number)
        }
        guard plan.count > 0 else { throw Failure(.dataError, input.emptiness) }
        try StandardStreams.write(plan.json, asJSON: json) { plan.text($0) }
        guard plan.refused.isEmpty else {
            throw Failure(.dataError, "\(NumberText.counted(plan.refused.count, "payload")) can't be sealed")
        }
    }

    private static let limitInBytes = 1 << 20
}

/// What becomes of plain payloads.
struct MigrationPlan {
    /// How payloads fit into a push.
    struct Fit: Equatable {
        var whole = 0
        /// With at least 40 characters of the body.
        var shortened: [Int] = []
        var offloaded: [Int] = []
    }

    private(set) var count = 0
    private(set) var fits: [Suite: [Carrier: Fit]] = [:]
    /// Numbers of lines.
    private(set) var silent: [Int] = []
    private(set) var liveActivities: [Int] = []
    private(set) var refused: [(line: Int, reason: String)] = []
    private(set) var sounds = 0
    private(set) var contentAvailable = 0

    private static let suites: [Suite] = [.p256, .x25519, .xWing, .shared]
    private static let keptCharacters = 40
    private static let header = MessageHeader(
        id: [UInt8](repeating: 0, count: MessageHeader.idByteCount), issuedAt: UnixTime(1_800_000_000),
        expiresAt: UnixTime(1_800_000_000 + MessageHeader.windowInSeconds))
    private static let kid = KeyID("AAAAAAAAAAA")

    /// - Parameter text: a payload, or a line with it for `simulate`.
    mutating func add(_ text: [UInt8], line: Int) {
        count += 1
        let root = (try? JSONText(text))?.root
        let inside = root?["aps"] == nil ? root?["payload"] : nil
        let payload = inside.map { Array($0.rawBytes) } ?? text
        let aps = (inside ?? root)?["aps"]
        guard aps?.isOfLiveActivity != true else { return liveActivities.append(line) }
        guard aps == nil || aps?["alert"] != nil else { return silent.append(line) }
        do {
            let inner = try InnerPayload(json: payload)
            let exposed = try ExposedMembers.rawMembers(of: inner.aps, named: [], isQuiet: false)
            let message = try inner.message(with: Self.header)
            for suite in Self.suites {
                for carrier in Carrier.allCases { try fit(inner, message.count, exposed, suite, carrier, line) }
            }
            sounds += exposed.count { $0.starts(with: #""sound""#.utf8) }
            contentAvailable += exposed.count { $0.starts(with: #""content-available""#.utf8) }
        } catch {
            refused.append((line, SenderError(error).reason))
        }
    }

    private mutating func fit(
        _ inner: InnerPayload, _ byteCount: Int, _ exposed: [[UInt8]], _ suite: Suite, _ carrier: Carrier, _ line: Int
    ) throws {
        guard let alert = Placeholder.standard.json, let kid = Self.kid else { return }
        let frame = OuterFrame(placeholder: alert, exposed: exposed, kid: kid, skid: kid, carrier: carrier)
        let budget = PayloadBudget(
            limitInBytes: PayloadBudget.apnsLimitInBytes - carrier.reservedByteCount, fixedByteCount: frame.byteCount,
            overheadByteCount: Envelope.overheadByteCount(suite, isSigned: true))
        let excess = byteCount - budget.messageCapacity
        if excess <= 0 {
            fits[suite, default: [:]][carrier, default: Fit()].whole += 1
        } else if try inner.shorteningBody(by: excess, toAtLeast: Self.keptCharacters) != nil {
            fits[suite, default: [:]][carrier, default: Fit()].shortened.append(line)
        } else {
            fits[suite, default: [:]][carrier, default: Fit()].offloaded.append(line)
        }
    }

    private func fit(_ suite: Suite, _ carrier: Carrier) -> Fit { fits[suite]?[carrier] ?? Fit() }

    /// ```
    /// {"payloads", "fits": {SUITE: {CARRIER: {"whole", "shortened": [LINE], "offloaded": [LINE]}}},
    ///  "visible": {"sound", "content-available"}, "silent": [LINE], "liveActivities": [LINE],
    ///  "refused": [{"line", "reason"}]}
    /// ```
    var json: JSONObject {
        let rows = Self.suites.map { suite -> (String, (any Encodable)?) in
            let cells = Carrier.allCases.map { carrier -> (String, (any Encodable)?) in
                let fit = fit(suite, carrier)
                let cell: JSONObject = [
                    "whole": fit.whole, "shortened": fit.shortened, "offloaded": fit.offloaded,
                ]
                return (carrier.rawValue, cell)
            }
            return ("\(suite.rawValue)", JSONObject(cells))
        }
        let visible: JSONObject = ["sound": sounds, "content-available": contentAvailable]
        return [
            "payloads": count, "fits": JSONObject(rows), "visible": visible, "silent": silent,
            "liveActivities": liveActivities,
            "refused": refused.map { line, reason -> JSONObject in ["line": line, "reason": reason] },
        ]
    }

    func text(_ terminal: TerminalText) -> String {
        let rows = Self.suites.map { suite in
            [TextTable.Cell(text: "suite \(suite.rawValue), \(suite)")]
                + Carrier.allCases.map { carrier in
                    let fit = fit(suite, carrier)
                    let parts = [fit.whole, fit.shortened.count, fit.offloaded.count]
                    let isWhole = parts[1] + parts[2] == 0
                    return TextTable.Cell(text: isWhole ? "\(parts[0])" : parts.map(String.init).joined(separator: "+"))
                }
        }
        let columns = ([""] + Carrier.allCases.map(\.rawValue)).map { TextTable.Column($0) }
        var lines = [terminal.styled("How many fit: whole + with a shortened body + only offloaded", .heading)]
        lines += TextTable(columns, rows).lines(terminal, width: StandardStreams.columns)
        lines += ["", terminal.styled("Of \(NumberText.counted(count, "payload"))", .heading)]
        func add(_ count: Int, _ text: String, _ numbers: [Int] = []) {
            let shown = numbers.prefix(5).map(String.init).joined(separator: ", ") + (numbers.count > 5 ? ", ..." : "")
            let place = numbers.isEmpty ? "" : " (\(numbers.count == 1 ? "line" : "lines") \(shown))"
            if count > 0 { lines.append("  \("\(count)".padded(to: 8)) \(text)\(place)") }
        }
        // Signed, in suite 1, to APNs itself.
        let direct = self.fit(.p256, .apns)
        add(direct.shortened.count, "need a shortened body in suite 1 with apns", direct.shortened)
        add(direct.offloaded.count, "need an offload in suite 1 with apns", direct.offloaded)
        add(sounds, "show outside that they have a sound")
        add(contentAvailable, "show outside content-available")
        add(silent.count, "have no alert: no extension sees them, and they aren't sealed", silent)
        add(
            liveActivities.count, "are of a Live Activity: no extension sees them, and they aren't sealed",
            liveActivities)
        for (reason, lines) in Dictionary(grouping: refused, by: \.reason).sorted(by: { $0.key < $1.key }) {
            add(lines.count, "can't be sealed: \(reason)", lines.map(\.line))
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
