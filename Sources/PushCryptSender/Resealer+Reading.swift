import PushCryptCore

/// What can be wrong with a payload besides its keys.
extension Resealer {
    static func text(_ payload: [UInt8]) throws(ResealError) -> JSONText {
        do {
            return try JSONText(payload)
        } catch {
            throw ResealError(.malformed, "the payload is not strict JSON: \(error)")
        }
    }

    static func outerPayload(_ text: JSONText) throws(ResealError) -> OuterPayload {
        do {
            return try OuterPayload(text)
        } catch {
            switch error {
            case .notSealed: throw ResealError(.notSealed, "the payload has no pushcrypt member: it wasn't sealed")
            case .unsupportedVersion:
                throw ResealError(.unsupportedVersion, "the payload is of a later version of the protocol")
            default:
                throw ResealError(.malformed, "a member of the outer payload is missing or of the wrong type")
            }
        }
    }

    /// What no recipient would show isn't sealed again. The time that has passed stays untold: it was encrypted.
    static func check(_ message: [UInt8], at time: UnixTime) throws(ResealError) {
        guard let header = try? InnerPayload(message: message).header else {
            throw ResealError(.malformed, "what was sealed is not a message: every recipient would refuse it")
        }
        guard header.expiresAt > time else { throw ResealError(.expired, "its time is over") }
    }
}
