import PushCryptCore
import PushCryptExtension

/// Opens queued payloads.
///
/// ```
/// in:  {"payload": <outer>, ["device": "<device id>"], <others>}
/// out: {"payload": <inner>, ["device"], <others>, "pushcrypt": {"line": N, "id": "<message id>", "expiresAt": <seconds>}}
/// ```
/// A `pushcrypt` member that came in, as from `seal --batch`, is replaced.
struct OpenWorker: LineWorker {
    enum Outcome: String, LineOutcome {
        case opened
    }

    /// What all workers have in common.
    struct Plan: Sendable {
        let topic: String
        let keyset: Keyset
        let senders: SenderTrust
        /// nil: when each line's turn comes.
        let time: UnixTime?
    }

    private let plan: Plan
    private let opener: Opener

    init(_ plan: Plan) throws {
        self.plan = plan
        opener = try Opener(topic: plan.topic, keyring: KeysetKeyring(plan.keyset), senders: plan.senders)
    }

    mutating func take(_ bytes: [UInt8], number: Int, into output: inout [UInt8]) throws -> Outcome {
        let line = try QueueLine(bytes)
        let opener = self.opener(for: line.device)
        let push: OpenedPush
        do throws(FailureClass) {
            push = try opener.open(Array(line.payload.rawBytes), at: plan.time ?? .now).get()
        } catch {
            throw LineRefusal(error)
        }
        let summary = LineSummary(number: number, id: push.messageID, expiresAt: push.expiresAt)
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

    private func opener(for device: DeviceID?) -> Opener {
        guard let device else { return opener }
        return opener.with(KeysetKeyring(plan.keyset, device: device))
    }

    /// A line's end is white space between tokens wherever JSON may have one, and a space is as good.
    private static func inOneLine(_ json: [UInt8]) -> [UInt8] {
        guard json.contains(.newline) else { return json }
        return json.map { $0 == .newline ? UInt8(ascii: " ") : $0 }
    }
}
