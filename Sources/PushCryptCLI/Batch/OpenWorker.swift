import PushCryptCore
import PushCryptExtension

extension Open {
    /// Runs `open --batch`.
    func openBatch() throws {
        let keyset = try KeySource(keys, keyAccess).openingKeyset(device: nil)
        let senders = try SenderTrust(option: trust, keyAccess)
        let time = timeOptions.givenTime
        let topic = try Topic(topic).description
        var run = try BatchRun<OpenWorker>(batch)
        try run.processAllLines {
            let opener = try Opener(topic: topic, keyring: KeysetKeyring(keyset), senders: senders)
            return OpenWorker(keyset: keyset, opener: opener, time: time)
        }
    }
}

/// Opens the payloads of a batch.
///
/// ```
/// in:  {"payload": <outer>, ["device": "<device id>"], <others>}
/// out: {"payload": <inner>, ["device"], <others>, "pushcrypt": {"line": N, "id": "<message id>", "expiresAt": <seconds>}}
/// ```
/// A `pushcrypt` member in the input, as `seal --batch` adds it, is replaced.
struct OpenWorker: LineWorker {
    enum Outcome: String, LineOutcome { case opened }

    let keyset: Keyset
    let opener: Opener
    /// nil: the time at which each line is opened.
    let time: UnixTime?

    mutating func process(_ bytes: [UInt8], number: Int, into output: inout [UInt8]) throws -> Outcome {
        let line = try QueueLine(bytes)
        let opener = self.opener(for: line.device)
        let push: OpenedPush
        do throws(FailureClass) {
            push = try opener.open(Array(line.payload.rawBytes), at: time ?? .now).get()
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
        return opener.with(KeysetKeyring(keyset, device: device))
    }

    /// Replaces newlines by spaces: JSON allows a newline only where it allows a space.
    private static func inOneLine(_ json: [UInt8]) -> [UInt8] {
        guard json.contains(.newline) else { return json }
        return json.map { $0 == .newline ? UInt8(ascii: " ") : $0 }
    }
}
