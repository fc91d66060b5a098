import PushCryptCore
import PushCryptSender

/// Seals queued payloads again.
///
/// ```
/// in:  {"payload": <outer>, ["device": "<device id>"], <others>}
/// out: the same line with another envelope in the payload
/// ```
struct ResealWorker: LineWorker {
    enum Outcome: String, LineOutcome {
        case resealed, unchanged
    }

    let resealer: Resealer

    mutating func take(_ bytes: [UInt8], number: Int, into output: inout [UInt8]) throws -> Outcome {
        let line = try QueueLine(bytes)
        let push: ResealedPush
        do throws(SenderError) {
            push = try resealer.reseal(Array(line.payload.rawBytes), device: line.device)
        } catch {
            throw LineRefusal(error)
        }
        guard push.isChanged else {
            output += bytes
            return .unchanged
        }
        line.append(to: &output) { $0 == .payload ? .replace(push.payload) : .keep }
        return .resealed
    }
}
