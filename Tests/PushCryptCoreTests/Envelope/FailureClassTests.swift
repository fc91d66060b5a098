import Testing

@testable import PushCryptCore

@Suite struct FailureClassTests {
    /// Counters and `userInfo` hold these names: they are part of the protocol (section 8).
    @Test func names() {
        let classes: [FailureClass] = [
            .notSealed, .malformed, .unsupportedVersion, .unknownKey, .keyLocked, .keyExpired, .keyRevoked,
            .undecryptable, .expired, .notYetValid, .replayed, .timedOut, .attachmentFailed, .internalError,
        ]
        let names = """
            notSealed malformed unsupportedVersion unknownKey keyLocked keyExpired keyRevoked undecryptable expired \
            notYetValid replayed timedOut attachmentFailed internalError
            """
        #expect(classes.map(\.rawValue).joined(separator: " ") == names)
        #expect(classes.map(\.description) == classes.map(\.rawValue))
    }
}
