import PushCryptCore
import PushCryptSender

/// One line of a queue of outer payloads. Members that aren't named here are the queue's own and stay as they are.
///
/// ```
/// {"payload": {<outer payload>}, ["device": "<device id>"]}
/// ```
struct QueuedPush {
    private let text: JSONText
    private let payloadValue: JSONValue
    let device: DeviceID?

    /// Why a line isn't sealed again: a class for scripts and words for people.
    struct Refusal: Error {
        let reason: String
        let message: String

        init(_ error: ResealError) {
            reason = error.code.description
            message = error.reason
        }

        private init(_ reason: String, _ message: String) {
            self.reason = reason
            self.message = message
        }

        static func malformedLine(_ message: String) -> Refusal { Refusal("malformedLine", message) }

        static func lineTooLong(limitInBytes: Int) -> Refusal {
            Refusal("lineTooLong", "the line is longer than \(limitInBytes) bytes")
        }
    }

    init(line: [UInt8]) throws(Refusal) {
        do {
            text = try JSONText(line)
        } catch {
            throw .malformedLine(line.isEmpty ? "the line is empty" : "the line is not strict JSON: \(error)")
        }
        guard let payload = text.root["payload"], payload.kind == .object else {
            throw .malformedLine("the line is not an object with an outer payload, an object too, as its payload")
        }
        payloadValue = payload
        device = try Self.device(text.root["device"])
    }

    var payload: [UInt8] { Array(payloadValue.rawBytes) }

    /// The line with another payload.
    func replacingPayload(_ payload: [UInt8]) -> [UInt8] {
        text.replacing([(payloadValue, payload)])
    }

    private static func device(_ value: JSONValue?) throws(Refusal) -> DeviceID? {
        guard let value else { return nil }
        guard let id = value.string else { throw .malformedLine("device is not a string; leave it out for a bare key") }
        do {
            return try DeviceID(id)
        } catch {
            throw .malformedLine(error.reason)
        }
    }
}
