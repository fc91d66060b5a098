import ArgumentParser
import PushCryptCore
import PushCryptExtension

struct Open: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open a sealed payload: outer payload on stdin, the restored APNs payload on stdout.",
        discussion: """
            A failure writes the placeholder payload to stdout with "pushcrypt": {"status": "failed", "reason": CLASS}, \
            and one line to stderr; the exit status is 65.

            With --batch, each line of stdin is {"payload": OUTER PAYLOAD, "device"?: ID}. Other members stay \
            unchanged. A line on stdout is the line of stdin with the restored payload and "pushcrypt": {"line", "id", \
            "expiresAt"}. A line that can't be opened is refused with its CLASS.

            \(BatchOptions.discussion)
            """)

    @Option(help: .init("The recipient's private or shared keys.", valueName: "FILE|Keys/NAME")) var keys: String
    @Option(help: .init("The app's bundle identifier.", valueName: "TOPIC")) var topic: String
    @Option(help: .init("Open with this device's key of a shared keyset.", valueName: "ID")) var device: String?
    @Option(help: .init("The pinned sender keys; unsigned payloads are refused.", valueName: "FILE")) var trust: String?

    @Option(
        help: .init(
            "What a failure shows: the payload's visible alert, which isn't authenticated, or a bundled text. (default: outer)",
            valueName: "outer|bundled"))
    var fallback: FallbackChoice?

    @OptionGroup(title: "Batch") var batch: BatchOptions
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard !batch.batch || device == nil else {
            throw ValidationError("--device can't be used with --batch: each line has a member \"device\".")
        }
        guard !batch.batch || fallback == nil else {
            throw ValidationError("--fallback can't be used with --batch: a line that can't be opened is refused.")
        }
    }

    var keyAccess: KeyAccess { KeyAccess(secrets, demoKeys) }

    func run() throws {
        if batch.batch { try openBatch() } else { try openOne() }
    }

    private func openOne() throws {
        let opener = try Opener(topic: topic, keys: keys, device: device, trust: trust, keyAccess)
        let payload = try StandardStreams.readAll(limit: Self.inputLimitInBytes)
        switch result(of: opener, for: payload) {
        case .success(let push):
            try StandardStreams.writeLine(push.payload)
            if let note = push.note { StandardStreams.writeNote(note) }
        case .failure(let failure):
            try StandardStreams.writeLine((fallback ?? .outer).fallback.payload(for: payload, failure))
            throw Failure(.dataError, "not opened: \(failure)")
        }
    }

    private func result(of opener: Opener, for payload: [UInt8]) -> Result<OpenedPush, FailureClass> {
        guard payload.count <= Self.inputLimitInBytes else { return .failure(.malformed) }
        return opener.open(payload, at: timeOptions.time)
    }

    /// Sixteen times the limit of APNs, which leaves room for an indented payload.
    private static let inputLimitInBytes = 65_536
}

enum FallbackChoice: String, ExpressibleByArgument {
    case outer, bundled

    var fallback: Fallback {
        switch self {
        case .outer: .outerAlert(orElse: .standard)
        case .bundled: .bundled(.standard)
        }
    }
}

extension OpenedPush {
    /// A note about the parts of the message that stdout doesn't contain; nil if there are none.
    fileprivate var note: String? {
        let count = attachments.count
        let parts = [
            count > 0 ? "\(count) \(count == 1 ? "attachment" : "attachments")" : nil,
            offload == nil ? nil : "the whole payload, which was offloaded",
        ].compactMap(\.self)
        let fetched = parts.isEmpty ? nil : "not fetched: \(parts.joined(separator: " and "))"
        let notes = [isSelfTest ? "a self-test of the extension" : nil, fetched].compactMap(\.self)
        return notes.isEmpty ? nil : notes.joined(separator: "; ")
    }
}
