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

/// Expects a `BlobError` of that code and returns it.
@discardableResult
func expectBlobError(
    _ code: BlobError.Code, location: SourceLocation = #_sourceLocation, _ body: () throws -> some Any
) -> BlobError? {
    let error = #expect(throws: BlobError.self, sourceLocation: location) { _ = try body() }
    #expect(error?.code == code, sourceLocation: location)
    return error
}

/// Raw JSON values that aren't strings.
enum WrongJSON {
    static let types = ["null", "true", "1", "[]", "{}", #"["a"]"#, #"{"a":"b"}"#]
}
