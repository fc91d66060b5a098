import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one key: its properties, its state, the next change and its history.",
        discussion: """
            It needs no secret, not even for encrypted keys. The KID of an imported key may begin with a \
            dash: give it as the last argument, after --.

            Example: pushcrypt keys show Keys/backend qi99
            """)

    @Argument(help: .init("A keyset or a file.", "Keys/NAME|FILE")) var path: String
    @OptionGroup var key: KeyIDArgument
    @Flag(help: "Print JSON: one object.") var json = false
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var messages: MessageOptions

    func run() throws {
        let view = try KeysetView(path, at: timeOptions.time)
        let kid = try key.prefix.kid(among: view.listed.map(\.kid), of: path)
        guard let status = view.status(kid) else {
            let kids = view.listed.map(\.kid.description).joined(separator: ", ")
            throw Failure(.noInput, "no key \(kid) in \(path); there are: \(kids)")
        }
        let description = try KeyDescription(status, in: view)
        try StandardStreams.write(description.json, asJSON: json) { terminal in
            KeyPage(key: description, terminal: terminal, width: StandardStreams.columns).text
        }
    }
}

/// Everything about one key that can be read without a secret.
struct KeyDescription {
    let status: KeyStatus
    let view: KeysetView
    /// The RFC 7638 thumbprint in base64url; nil if the public key isn't published.
    let thumbprint: String?
    /// The key's entries of the audit log; nil without a log.
    private(set) var history: [AuditEntry]?
    private(set) var flaw: String?

    init(_ status: KeyStatus, in view: KeysetView) throws {
        self.status = status
        self.view = view
        thumbprint = view.thumbprint(of: status.kid)
        guard let folder = view.folder else { return }
        let opened = try Folder(folder.path)
        guard opened.has(KeysetFolder.auditName) || view.metadata.audit != .none else { return }
        let log = try folder.auditLog(in: opened).history(view.metadata.audit)
        history = log.entries.filter { $0.kid == status.kid.description }
        flaw = log.flaw
    }
}

extension KeysetView {
    /// Read from the public file, because the private file may be encrypted. Shared keys have no public file.
    fileprivate func thumbprint(of kid: KeyID) -> String? {
        guard metadata.kind != .shared else { return nil }
        let file = folder.map { $0.path + "/" + KeysetFolder.publicName } ?? path
        guard let bytes = try? FileSystem.readFoundFile(file), let keyset = try? Keyset(json: bytes) else { return nil }
        return (try? keyset.entry(kid)?.record.thumbprint()).map { Base64URL.encode($0) }
    }
}

/// `keys show --json`: the members of `keys list --json`, and these:
///
/// ```
/// {"keyset", "thumbprint": BASE64URL | null, "next": TEXT,
///  "history": [{"n", "at", "who", "what", "detail", "why"}] | null, "historyProblem": TEXT | null, ["problem": TEXT], ["signedSet": SET]}
/// ```
extension KeyDescription {
    var json: JSONObject {
        let json = status.json(view.metadata.kind).adding(ifKnown: [
            "problem": view.problem, "signedSet": view.signedSet?.json,
        ])
        return json.adding([
            "keyset": view.path, "thumbprint": thumbprint, "next": whatNext, "history": history?.map(Self.json),
            "historyProblem": flaw,
        ])
    }

    private static func json(_ entry: AuditEntry) -> JSONObject {
        [
            "n": entry.number, "at": "\(entry.at)", "who": entry.who, "what": entry.what, "detail": entry.detail,
            "why": entry.why,
        ]
    }

    var kindText: String {
        switch view.metadata.kind {
        case .recipient: "recipient: senders seal with its public key, the device opens with its private key"
        case .sender: "sender: it signs pushes, devices verify them"
        case .publisher: "publisher: it signs sets of sender keys, apps that pin it verify them"
        default: "shared: one secret seals and opens; each device has its own key, derived from the secret"
        }
    }

    var suiteText: String { status.traits?.suite.description ?? "-" }

    var pskText: String {
        guard view.metadata.kind == .recipient else { return "-" }
        return status.traits?.demandsPSK == true
            ? "yes: sending also needs the pre-shared key" : "no: anyone with the public key can send"
    }

    var isSender: Bool { [.sender, .publisher].contains(view.metadata.kind) }
    private var isPublisher: Bool { view.metadata.kind == .publisher }

    private static let earlierCopy = "no: the keyset is an earlier copy, which no command uses"

    var sealsText: String {
        if view.problem != nil { return Self.earlierCopy }
        let verb = isSender ? "signs" : "seals"
        let since = status.lifecycle.activatesAt.map { $0 > UnixTime(0) ? " since \($0)" : "" } ?? ""
        return switch status.state {
        case .pending where isPublisher, .primary where isPublisher: "yes: it signs every set of sender keys"
        case .primary: "yes: it \(verb) every new push\(since)"
        case .pending: "no: it is published and \(verb) nothing yet"
        default: "no: \(ending)"
        }
    }

    var opensText: String {
        if view.problem != nil { return Self.earlierCopy }
        let verb = isSender ? "verifies" : "opens"
        return switch status.state {
        case .pending where isPublisher, .primary where isPublisher: "yes: in apps that pin it"
        case .pending: "yes: a sender's clock may be ahead"
        case .primary: "yes"
        case .retiring: "yes: it \(verb) what is still on its way"
        default: "no: \(ending)"
        }
    }

    /// Why the key no longer seals or opens.
    private var ending: String {
        let lifecycle = status.lifecycle
        let (text, time) =
            switch status.state {
            case .destroyed: ("its material was erased", lifecycle.destroyedAt)
            case .revoked: ("it was revoked", lifecycle.revokedAt)
            case .expired: ("it expired", lifecycle.expiresAt)
            default: ("it retired", lifecycle.retiresAt)
            }
        return text + (time.map { " at \($0)" } ?? "")
    }

    /// The next change and its reason. It is also a value of the JSON output.
    var whatNext: String {
        switch status.state {
        case _ where view.problem != nil: "Nothing: the keyset is an earlier copy. Run `pushcrypt keys doctor`."
        case .pending where isPublisher, .primary where isPublisher: "Nothing: \(RotationPlan.publishers)."
        case .pending: pendingText
        case .primary: primaryText
        case .retiring: retiringText
        case .destroyed: "Nothing: its material is erased, and its id can't be used again."
        default: erasureText
        }
    }

    private var pendingText: String {
        guard let next = status.nextChange else {
            guard let step = planned({ $0.action == .promote(status.kid) }) else {
                return "It waits for `pushcrypt keys promote`, which makes it begin to \(isSender ? "sign" : "seal")."
            }
            let time = step.dueAt > view.now ? ", not before \(at(step.dueAt))" : ""
            return "It waits to be promoted\(time): \(step.blockedBy ?? step.why)."
        }
        guard next.state == .primary else { return "It \(next.state.verb) at \(at(next.at)), before it has sealed." }
        let text = "It \(isSender ? "signs" : "seals") from \(at(next.at)) on"
        guard let policy = view.policy else { return text + "." }
        let lead = DurationText.human(policy.publishLeadInSeconds)
        return "\(text). The policy publishes a key \(lead) ahead, so that every device has it by then."
    }

    private var primaryText: String {
        if let next = status.nextChange {
            let heir = view.statuses.first { $0.lifecycle.activatesAt == next.at && $0.kid != status.kid }
            let takesOver = heir.map { ": key \($0.kid) takes over" } ?? ""
            return "It \(next.state.verb) at \(at(next.at))\(takesOver)."
        }
        if let heir = view.statuses.first(where: \.waitsForPromotion) {
            return "It \(isSender ? "signs" : "seals") until key \(heir.kid) is promoted."
        }
        let step = planned { if case .add = $0.action { true } else { false } }
        guard let step else { return "Nothing: no end is set." }
        let time = step.dueAt > view.now ? "is added at \(at(step.dueAt))" : "has been due since \(at(step.dueAt))"
        return "Its successor \(time), by the policy: \(step.blockedBy ?? step.why)."
    }

    private var retiringText: String {
        guard let next = status.nextChange else { return "Nothing: no end is set." }
        guard next.state == .expired, let retiresAt = status.lifecycle.retiresAt else {
            return "It \(next.state.verb) at \(at(next.at))."
        }
        let last = isSender ? "signed" : "sealed"
        return "It expires at \(at(next.at)): the last push was \(last) with it before \(retiresAt), and no push is "
            + "valid for more than 30 days."
    }

    private var erasureText: String {
        guard view.plan != nil, let time = status.lifecycle.expiresAt else { return "Nothing: it no longer opens." }
        if let step = planned({ $0.action == .destroy(status.kid) }), let objection = step.blockedBy {
            return "Its material is to be erased, but: \(objection)."
        }
        return time > view.now
            ? "Its material can be erased from \(at(time)) on; until then `pushcrypt reseal` can use it."
            : "The erasure of its material has been due since \(at(time)): run `pushcrypt rotate \(view.path)`."
    }

    private func planned(_ isWanted: (RotationPlan.Step) -> Bool) -> RotationPlan.Step? {
        guard let plan = view.plan else { return nil }
        return (plan.blocked + plan.due + [plan.next].compactMap(\.self)).first(where: isWanted)
    }

    private func at(_ time: UnixTime) -> String { "\(time) (\(TimeDistance.text(time, from: view.now)))" }
}

/// The output of `keys show` for people.
private struct KeyPage {
    let key: KeyDescription
    let terminal: TerminalText
    let width: Int

    var text: String {
        let title = "Key \(key.status.kid) of \(TerminalText.harmless(key.view.path.utf8)) at \(key.view.now)"
        let blocks = [
            terminal.wrapped("", title, indent: 0, width: width, .heading), properties, times, uses,
            [terminal.styled("History", .heading)] + history,
        ]
        return blocks.map { $0.map { $0 + "\n" }.joined() }.joined(separator: "\n")
    }

    private var properties: [String] {
        let state = key.status.state
        return row("state", "\(state)", .state(state)) + row("kind", key.kindText) + row("suite", key.suiteText)
            + row("psk", key.pskText) + row("thumbprint", key.thumbprint.map { "\($0) (RFC 7638, SHA-256)" } ?? "-")
    }

    private var times: [String] {
        let lifecycle = key.status.lifecycle
        let moments = [
            ("created", lifecycle.createdAt), ("activates", lifecycle.activatesAt), ("retires", lifecycle.retiresAt),
            ("expires", lifecycle.expiresAt), ("revoked", lifecycle.revokedAt), ("destroyed", lifecycle.destroyedAt),
        ]
        return moments.flatMap { name, time in row(name, time.map(text) ?? "-") }
    }

    /// Keys without times get the time 0.
    private func text(_ time: UnixTime) -> String {
        time == UnixTime(0) ? "always" : "\(time)  \(TimeDistance.text(time, from: key.view.now))"
    }

    private var uses: [String] {
        row(key.isSender ? "signs" : "seals", key.sealsText) + row(key.isSender ? "verifies" : "opens", key.opensText)
            + row("next", key.whatNext)
            + (key.view.signedSet.map { row("signed set", $0.text, $0.style) } ?? [])
    }

    private var history: [String] {
        let flaw = key.flaw.map { row("", "Problem: \($0).", .bad) } ?? []
        guard let history = key.history else { return flaw + row("", "There is no audit log.") }
        guard !history.isEmpty else { return flaw + row("", "The audit log doesn't mention the key.") }
        return flaw
            + history.flatMap { entry in
                let details = [entry.detail.map(AuditEvent.text(ofDetail:)), entry.why.map { "why: \($0)" }].compactMap(
                    \.self
                ).joined(separator: "; ")
                return row("\(entry.at)", "\(entry.what) by \(entry.who)" + (details.isEmpty ? "" : ": \(details)"))
            }
    }

    private func row(_ name: String, _ text: String, _ style: TerminalText.Style = .plain) -> [String] {
        let indent = name.isEmpty ? 2 : 2 + max(12, name.count + 2)
        return terminal.wrapped("  \(name)".padded(to: indent), text, indent: indent, width: width, style)
    }
}
