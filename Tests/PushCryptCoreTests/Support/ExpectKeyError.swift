import Testing

@testable import PushCryptCore

/// Expects a `KeyError` of that code.
func expectKeyError(
    _ code: KeyError.Code, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation,
    _ body: () throws -> some Any
) {
    let error = #expect(throws: KeyError.self, comment, sourceLocation: location) { _ = try body() }
    if let error {
        #expect(error.code == code, comment ?? "\(error)", sourceLocation: location)
    }
}

/// Raw JSON values that aren't strings.
enum WrongJSON {
    static let types = ["null", "true", "1", "[]", "{}", #"["a"]"#, #"{"a":"b"}"#]
}
