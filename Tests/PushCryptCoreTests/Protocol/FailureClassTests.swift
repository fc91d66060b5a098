import Testing

@testable import PushCryptCore

@Suite struct FailureClassTests {
    @Test("each defined failure class has a public constant, whose description is its name")
    func constants() {
        let classes: [FailureClass] = [
            .notSealed, .malformed, .unsupportedVersion, .unknownKey, .keyLocked, .keyExpired, .keyRevoked,
            .unsupportedSuite, .undecryptable, .expired, .notYetValid, .replayed, .retracted, .timedOut,
            .attachmentFailed, .internalError,
        ]
        #expect(classes.map(\.defined) == FailureClass.Defined.allCases)
        #expect(classes.map(\.description) == FailureClass.Defined.allCases.map(\.rawValue))
    }

    @Test("a class of an app's own is not a defined one, and keeps its name")
    func own() {
        let own = FailureClass(rawValue: "acme.noQuota")
        #expect(own.defined == nil && own.description == "acme.noQuota")
    }
}
