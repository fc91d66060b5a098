import PushCryptCore
import PushCryptExtension
import Testing

/// Expects that a payload fails with that class.
func expect(
    _ failure: FailureClass, _ result: Result<OpenedPush, FailureClass>, _ comment: Comment? = nil,
    location: SourceLocation = #_sourceLocation
) {
    switch result {
    case .success: Issue.record("\(comment ?? "") was opened", sourceLocation: location)
    case .failure(let found): #expect(found == failure, comment, sourceLocation: location)
    }
}

extension OpenedPush {
    var text: String { String(decoding: payload, as: UTF8.self) }
}
