import ArgumentParser
import PushCryptCore
import PushCryptSender

struct Reseal: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reseal",
        abstract: "Seal queued payloads again under a shared keyset's primary, after a rotation.",
        discussion: """
            Reads JSON lines {"payload": OUTER PAYLOAD, "device"?: ID} from stdin and writes them to stdout in the same \
            order. Only kid, sealed and skid of a payload change; the message keeps its id, its times and its padding. \
            Other members of a line stay unchanged. The keysets are read once, at the start, and all lines are sealed to the \
            primary key of that time: after a further rotation, run it again. Old keys open in every state, even revoked ones, so input only your \
            own queue: an attacker with an old key could have other messages sealed here.

            A payload that was sealed to a device requires its "device". Without it, the payload is opened with the bare \
            shared key, which fails as undecryptable. Signed payloads require --sign-with.

            Refused lines are written to the errors file, which is always created: {"line": NUMBER, "reason": CLASS, \
            "message": TEXT, "input": LINE}, or "inputBase64" for a line over 1 MiB or not UTF-8. To input them again: \
            jq -r '.input // empty' FILE. The exit status is 65 if a line was refused. If the output fails, stderr shows the \
            line to continue with; a last line on stdout without a newline is incomplete.

            Example: pushcrypt reseal --keys Keys/fleet --topic com.example.app --errors refused.jsonl < queue.jsonl > resealed.jsonl
            """)

    @Option(help: .init("The shared keys, old and new.", "FILE|Keys/NAME")) var keys: String
    @Option(help: .init("A new file for refused lines.", "FILE")) var errors: String
    @Option(name: .customLong("topic"), help: .init("The app's bundle identifier. (default: PUSHCRYPT_TOPIC)", "TOPIC"))
    var givenTopic: String?

    @Option(
        help: .init(
            "The sender keyset. Payloads that one of its keys signed are signed again with its primary key.",
            "FILE|Keys/NAME"))
    var signWith: String?

    @Option(help: .init("The way to the device for which the payloads were sealed.", CarrierOptions.names))
    var carrier: Carrier = .apns
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup var keystore: KeystoreOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    private var topic: String { givenTopic ?? Defaults.topic ?? "" }

    func validate() throws {
        try Defaults.requireTopic(givenTopic)
    }

    var keyAccess: KeyAccess {
        KeyAccess(
            secrets: secrets, keystore: keystore, allowsDemoKeys: demoKeys.isAllowed,
            confirmsClock: clock.isConfirmed)
    }

    func run() throws {
        let resealer = try resealer()
        var run = try BatchRun<ResealWorker>(workers: BatchOptions.coreCount, errors: errors, resumption: "line")
        try run.processAllLines { ResealWorker(resealer: resealer) }
    }

    /// Uses one time for all lines, so that all are sealed to the same key.
    private func resealer() throws -> Resealer {
        let time = timeOptions.time
        let source = try KeySource(keys, keyAccess)
        let senders = try signWith.map { path in try KeySource(path, keyAccess) }
        // The library refuses these too, but can't name the file.
        guard source.keyset.kind == .shared else {
            let kind = source.keyset.kind.rawValue
            throw Failure(.dataError, "\(keys): these are \(kind) keys; reseal requires shared keys")
        }
        _ = try source.recipient(device: nil, at: time)
        _ = try senders?.senderKey(at: time)
        return try Resealer(
            topic: Topic(option: topic).description, keyset: source.keyset, senders: senders?.keyset, carrier: carrier,
            clock: { time })
    }
}

/// Seals the payloads of a batch again.
///
/// ```
/// in:  {"payload": <outer>, ["device": "<device id>"], <others>}
/// out: the same line with another envelope in the payload
/// ```
struct ResealWorker: LineWorker {
    enum Outcome: String, LineOutcome { case resealed, unchanged }

    let resealer: Resealer

    mutating func process(_ line: QueueLine, number: Int, into output: inout [UInt8]) throws -> Outcome {
        let push: ResealedPush
        do throws(SenderError) {
            push = try resealer.reseal(Array(line.payload.rawBytes), device: line.device)
        } catch {
            throw LineRefusal(error)
        }
        guard push.isChanged else {
            output += line.bytes
            return .unchanged
        }
        line.append(to: &output) { $0 == .payload ? .replace(push.payload) : .keep }
        return .resealed
    }
}
