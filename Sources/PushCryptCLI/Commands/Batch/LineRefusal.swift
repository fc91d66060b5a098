import PushCryptCore
import PushCryptRecipients
import PushCryptSender

/// Why a line of a queue doesn't come out: a class for scripts and words for people, with nothing of the line.
struct LineRefusal: Error {
    let reason: String
    let message: String

    private init(_ reason: String, _ message: String) {
        self.reason = reason
        self.message = message
    }

    init(_ error: SenderError) {
        self.init(error.code.description, error.reason)
    }

    init(_ failure: FailureClass) {
        self.init(failure.rawValue, "not opened: \(failure)")
    }

    /// Every error of sealing a line; nil where the line isn't to blame and the next one would fare no better.
    init?(_ error: any Error) {
        switch error {
        case let refusal as LineRefusal: self = refusal
        case let error as SenderError: self.init(error)
        case let error as KeyError: self.init(error.code.description, error.reason)
        case let error as RecipientDirectoryError where Self.codesOfRecords.contains(error.code):
            self.init(error.code.description, error.reason)
        default: return nil
        }
    }

    private static let codesOfRecords: [RecipientDirectoryError.Code] = [.collision, .privateKey, .invalidRecord]

    static func malformedLine(_ message: String) -> LineRefusal { LineRefusal("malformedLine", message) }

    static func lineTooLong(limitInBytes: Int) -> LineRefusal {
        LineRefusal("lineTooLong", "the line is longer than \(limitInBytes) bytes")
    }

    static let recipientMissing = LineRefusal(
        "recipientMissing", "the line has no to, and the command has no --to either")

    static func unknownKey(_ message: String) -> LineRefusal { LineRefusal("unknownKey", message) }

    static func demoKeys(_ kid: KeyID) -> LineRefusal {
        LineRefusal(
            "demoKeys",
            "key \(kid) is a published demo key, which protects nothing; --allow-demo-keys uses it all the same")
    }
}
