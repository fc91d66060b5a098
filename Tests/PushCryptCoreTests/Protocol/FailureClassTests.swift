import Testing

@testable import PushCryptCore

@Suite struct FailureClassTests {
    @Test("the failure classes have the names of the protocol's section 8")
    func names() {
        let classes: [FailureClass] = [
            .notSealed, .malformed, .unsupportedVersion, .unknownKey, .keyLocked, .keyExpired, .keyRevoked,
            .unsupportedSuite, .undecryptable, .expired, .notYetValid, .replayed, .retracted, .timedOut,
            .attachmentFailed, .internalError,
        ]
        let names = """
            notSealed malformed unsupportedVersion unknownKey keyLocked keyExpired keyRevoked \
            unsupportedSuite undecryptable expired notYetValid replayed retracted timedOut attachmentFailed internalError
            """
        #expect(classes.map(\.rawValue).joined(separator: " ") == names)
        #expect(classes.map(\.description) == classes.map(\.rawValue))
    }
}
