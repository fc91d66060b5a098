import PushCryptExtension
import Testing

/// Expects opening to fail with the class.
func expectFailure(
    _ expected: FailureClass, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation,
    _ result: () throws -> Result<OpenedPush, FailureClass>
) throws {
    #expect(try result().failure == expected, comment, sourceLocation: location)
}

extension Result {
    /// The failure; nil for a success.
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

extension [UInt8] {
    var text: String { String(decoding: self, as: UTF8.self) }

    /// Returns the text with the first `old` replaced. It traps if the text doesn't contain `old`.
    func replacing(_ old: String, with new: String) -> [UInt8] {
        guard let range = text.firstRange(of: old) else { preconditionFailure("no \(old) in \(text)") }
        return Array(text.replacingSubrange(range, with: new).utf8)
    }
}

extension String {
    fileprivate func replacingSubrange(_ range: Range<Index>, with new: String) -> String {
        self[..<range.lowerBound] + new + self[range.upperBound...]
    }
}
