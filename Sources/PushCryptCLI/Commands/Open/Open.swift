import ArgumentParser
import PushCryptCore
import PushCryptExtension
import PushCryptFiles

struct Open: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a sealed payload: outer payload on stdin or in FILE, the restored APNs payload on stdout.",
        discussion: """
            A failure writes the placeholder payload to stdout with "pushcrypt": {"status": "failed", "reason": CLASS}, \
            and one line to stderr; the exit status is 65.

            With --batch or --stream, each line of stdin is {"payload": OUTER PAYLOAD, "device"?: ID}. Other members stay \
            unchanged. A line on stdout is the line of stdin with the restored payload and "pushcrypt": {"line", "id", \
            "expiresAt", "retract"?: [IDS], "quiet"?: true, "badgeAdd"?: N}. A line that can't be opened is refused with its CLASS.

            \(BatchOptions.discussion)

            Example: pushcrypt open --keys Keys/phone --topic com.example.app --trust Keys/backend.json < sealed.json
            """)

    @OptionGroup var input: PayloadInput
    @Option(help: .init("The recipient's private or shared keys.", "FILE|Keys/NAME")) var keys: String
    @Option(name: .customLong("topic"), help: .init("The app's bundle identifier. (default: PUSHCRYPT_TOPIC)", "TOPIC"))
    var givenTopic: String?
    @Option(parsing: .unconditional, help: .init("Open with this device's key of a shared keyset.", "ID"))
    var device: String?
    @OptionGroup var senders: TrustOptions
    @OptionGroup var carriers: CarrierOptions
    @Option(
        help: .init(
            "What a failure shows: the payload's visible alert, which isn't authenticated, or a bundled text. (default: outer)",
            "outer|bundled"))
    var fallback: FallbackChoice?

    @OptionGroup(title: "Batch") var batch: BatchOptions
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup var keystore: KeystoreOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    private var topic: String { givenTopic ?? Defaults.topic ?? "" }

    func validate() throws {
        try Defaults.requireTopic(givenTopic)
        guard !batch.isOn || device == nil else {
            throw ValidationError("--device can't be used with \(batch.name): each line has a member \"device\".")
        }
        guard !batch.isOn || fallback == nil else {
            throw ValidationError(
                "--fallback can't be used with \(batch.name): a line that can't be opened is refused.")
        }
    }

    var keyAccess: KeyAccess {
        KeyAccess(secrets: secrets, keystore: keystore, allowsDemoKeys: demoKeys.isAllowed)
    }

    func run() throws {
        if batch.isOn { try openBatch() } else { try openOne() }
    }

    private func openOne() throws {
        let opener = try PayloadOpener(
            topic: topic, keys: keys, device: device, senders: trustedFiles().senders, carriers: carriers.set,
            keyAccess, at: timeOptions.time)
        let payload = try input.read(limit: Self.inputLimitInBytes)
        switch result(of: opener, for: payload) {
        case .success(let push):
            try StandardStreams.writeLine(push.payload)
            if let note = push.note { StandardStreams.writeNote(note) }
        case .failure(let failure):
            try StandardStreams.writeLine(
                (fallback ?? .outer).fallback.payload(for: payload, failure.failure, carriers: carriers.set))
            let isEmpty = payload.allSatisfy(\.isWhiteSpace)
            let reason = isEmpty ? input.emptiness : failure.reason ?? "`pushcrypt diagnose` looks for the cause"
            throw Failure(.dataError, OpeningFailure(failure: failure.failure, reason: reason).text)
        }
    }

    private func trustedFiles() throws -> TrustedFiles {
        try TrustedFiles(senders, topic: topic, at: timeOptions.time, keyAccess)
    }

    private func openBatch() throws {
        let topic = try Topic(option: topic).description
        let (allowsDemoKeys, givenTime) = (demoKeys.isAllowed, timeOptions.givenTime)
        let keyset = try FollowedFiles([KeySource.file(of: keys)], named: keys) {
            let source = try KeySource(keys, keyAccess)
            source.noteSlowClock(at: timeOptions.time)
            return try OpeningKeys(source)
        } again: {
            try $0.readAgain(allowsDemoKeys: allowsDemoKeys)
        }
        let paths = senders.trust.map(KeySource.file) + senders.pins
        let name = senders.isGiven ? senders.trust.joined(separator: ", ") : "no --trust"
        let senders = try FollowedFiles(paths, named: name, read: trustedFiles) {
            try $0.readAgain(at: givenTime ?? .now, allowsDemoKeys: allowsDemoKeys)
        }
        var run = try BatchRun<OpenWorker>(batch, input)
        try run.processAllLines {
            OpenWorker(
                topic: topic, keys: { keyset.current.keyset }, senders: { senders.current.senders },
                carriers: carriers.set, time: givenTime)
        }
    }

    private func result(of opener: PayloadOpener, for payload: [UInt8]) -> Result<OpenedPush, OpeningFailure> {
        guard payload.count <= Self.inputLimitInBytes else {
            let reason = "\(input.name) has more than \(Self.inputLimitInBytes) bytes"
            return .failure(OpeningFailure(failure: .malformed, reason: reason))
        }
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

/// The keys of a batch.
struct OpeningKeys: Sendable {
    private let source: KeySource
    let keyset: Keyset

    init(_ source: KeySource) throws {
        self.source = source
        keyset = try source.openingKeyset(device: nil)
    }

    func readAgain(allowsDemoKeys: Bool) throws -> OpeningKeys {
        try OpeningKeys(source.readAgain(allowsDemoKeys: allowsDemoKeys))
    }
}

/// Opens the payloads of a batch with the keys and senders of the moment.
///
/// ```
/// in:  {"payload": <outer>, ["device": "<device id>"], <others>}
/// out: {"payload": <inner>, ["device"], <others>, "pushcrypt": {"line": N, "id": "<message id>", "expiresAt": <seconds>,
///       ["retract": ["<message id>", ...]], ["quiet": true], ["badgeAdd": N]}}
/// ```
/// A `pushcrypt` member in the input, as `seal --batch` adds it, is replaced.
struct OpenWorker: LineWorker {
    enum Outcome: String, LineOutcome { case opened }

    let topic: String
    /// The keys and senders of the moment.
    let keys: @Sendable () -> Keyset
    let senders: @Sendable () -> TrustedSenders?
    let carriers: Set<Carrier>
    /// nil: the time at which each line is opened.
    let time: UnixTime?

    mutating func process(_ line: QueueLine, number: Int, into output: inout [UInt8]) throws -> Outcome {
        let opener = try PayloadOpener(
            topic: topic, keys: keys(), device: line.device, senders: senders(), carriers: carriers)
        let push: OpenedPush
        do throws(OpeningFailure) {
            push = try opener.open(Array(line.payload.rawBytes), at: time ?? .now).get()
        } catch {
            throw LineRefusal(error)
        }
        let summary = LineSummary(
            number: number, id: push.messageID, expiresAt: push.expiresAt, others: push.instructions)
        let (payload, isReplaced) = (Self.inOneLine(push.payload), line[.pushcrypt] != nil)
        line.append(to: &output, adding: isReplaced ? nil : summary.member) { field in
            switch field {
            case .payload: .replace(payload)
            case .pushcrypt: .replace(summary.json)
            default: .keep
            }
        }
        return .opened
    }

    /// Replaces newlines by spaces: JSON allows a newline only where it allows a space.
    private static func inOneLine(_ json: [UInt8]) -> [UInt8] {
        guard json.contains(.newline) else { return json }
        return json.map { $0 == .newline ? UInt8(ascii: " ") : $0 }
    }
}

extension OpenedPush {
    /// A note about the parts of the message that stdout doesn't contain; nil if there are none.
    var note: String? {
        let notes = [isSelfTest ? "a self-test of the extension" : nil] + instructionNotes + [fetchNote]
        let texts = notes.compactMap(\.self)
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// Whether the push stays secret from a quantum computer.
    var postQuantumText: String { suite.postQuantumText(hasPSK: profile & SenderProof.secret.rawValue != 0) }

    private var instructionNotes: [String?] {
        [
            retractedMessageIDs.isEmpty ? nil : "takes back \(retractedMessageIDs.joined(separator: ", "))",
            isQuiet ? "quiet" : nil, badgeIncrement.map { "adds \($0) to the badge" },
        ]
    }

    private var fetchNote: String? {
        let parts = [
            attachments.isEmpty ? nil : NumberText.counted(attachments.count, "attachment"),
            avatar == nil ? nil : "an avatar", offload == nil ? nil : "the whole payload, which was offloaded",
        ].compactMap(\.self)
        return parts.isEmpty ? nil : "not fetched: \(parts.joined(separator: " and "))"
    }

    /// The members of the message that affect more than its own notification, as raw JSON members.
    ///
    /// ```
    /// ["retract": ["<message id>", ...]], ["quiet": true], ["badgeAdd": N]
    /// ```
    var instructions: [String] {
        let ids = retractedMessageIDs.map { "\"\($0)\"" }.joined(separator: ",")
        return [
            ids.isEmpty ? nil : "\"retract\":[\(ids)]", isQuiet ? "\"quiet\":true" : nil,
            badgeIncrement.map { "\"badgeAdd\":\($0)" },
        ].compactMap(\.self)
    }
}
