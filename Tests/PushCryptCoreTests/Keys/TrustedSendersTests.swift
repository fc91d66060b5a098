import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct TrustedSendersTests {
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        let lifecycle: KeyLifecycle
        let failure: FailureClass?
    }

    @Test(
        "a sender key verifies or is refused by its lifecycle",
        arguments: [
            Case(description: "pending", lifecycle: .at(2_000), failure: nil),
            Case(description: "never activated", lifecycle: .at(nil), failure: nil),
            Case(description: "primary", lifecycle: .at(0), failure: nil),
            Case(description: "retiring", lifecycle: .at(0, retires: 500), failure: nil),
            Case(description: "expires next", lifecycle: .at(0, retires: 500, expires: 1_001), failure: nil),
            Case(description: "expires now", lifecycle: .at(0, retires: 500, expires: 1_000), failure: .keyExpired),
            Case(
                description: "revoked, by a clock that is ahead", lifecycle: .at(0, revoked: 1_001),
                failure: .keyRevoked),
            Case(description: "revoked now", lifecycle: .at(0, revoked: 1_000), failure: .keyRevoked),
            Case(description: "revoked and expired", lifecycle: .at(0, expires: 7, revoked: 9), failure: .keyRevoked),
        ])
    func lifecycle(testCase: Case) throws {
        let record = try TestJWK.named("sender").withoutPrivateKey.record()
        let senders = try TrustedSenders(Keyset([Keyset.Entry(record, testCase.lifecycle)]))
        let found = Result { () throws(FailureClass) in
            try senders.verificationKey(record.kid, at: UnixTime(1_000)).key.serialized
        }
        switch found {
        case .success(let key):
            #expect(testCase.failure == nil)
            #expect(key == TestJWK.named("sender").bytes("x"))
        case .failure(let failure): #expect(failure == testCase.failure)
        }
    }

    @Test("a key whose thumbprint is revoked verifies nothing even if its set says otherwise")
    func revokedBefore() throws {
        let record = try TestJWK.named("sender").withoutPrivateKey.record()
        let other = try TestJWK.named("other sender").withoutPrivateKey.record()
        let keyset = try Keyset([Keyset.Entry(record, .at(0)), Keyset.Entry(other, .at(0))])
        let senders = try TrustedSenders(keyset, revoked: [record.thumbprint()])
        #expect(throws: FailureClass.keyRevoked) { _ = try senders.verificationKey(record.kid, at: UnixTime(1)) }
        _ = try senders.verificationKey(other.kid, at: UnixTime(1))
    }

    @Test("a skid that isn't in the set throws unknownKey")
    func aStranger() throws {
        let senders = try TrustedSenders(json: Array(TestJWK.named("sender").withoutPrivateKey.json.utf8))
        let stranger = try #require(KeyID(TestJWK.named("other sender").text("kid")))
        #expect(throws: FailureClass.unknownKey) { _ = try senders.verificationKey(stranger, at: UnixTime(0)) }
    }
}
