import NIOCore

/// What the stand-in does to a request instead of accepting it, or after it has accepted it.
public struct Fault: Sendable {
    enum Kind: Sendable {
        case answer(Refusal)
        case reset(isAccepted: Bool)
        case cutAnswer
        case close(isAccepted: Bool)
        case goAway
        case delay(TimeAmount)
        case silence
    }

    let kind: Kind

    /// Answers with a status and a reason, for example `503 ServiceUnavailable`.
    public static func answer(_ refusal: Refusal) -> Fault { Fault(kind: .answer(refusal)) }

    /// Resets the stream. If the push was accepted before, the sender can't know that.
    public static func reset(afterAccepting isAccepted: Bool) -> Fault { Fault(kind: .reset(isAccepted: isAccepted)) }

    /// Accepts the push, and resets the stream after the status 200 and before the end of the answer.
    public static let cutAnswer = Fault(kind: .cutAnswer)

    /// Closes the connection.
    public static func close(afterAccepting isAccepted: Bool) -> Fault { Fault(kind: .close(isAccepted: isAccepted)) }

    /// Accepts the push and sends GOAWAY with `Shutdown`: the connection ends when its streams have ended.
    public static let goAway = Fault(kind: .goAway)

    /// Accepts the push after a wait.
    public static func delay(milliseconds: Int64) -> Fault { Fault(kind: .delay(.milliseconds(milliseconds))) }

    /// Accepts the push and never answers.
    public static let silence = Fault(kind: .silence)
}
