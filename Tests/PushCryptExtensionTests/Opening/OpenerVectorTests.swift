import PushCryptExtension
import Testing

/// Vectors of the Python reference.
@Suite struct OpenerVectorTests {
    @Test(
        "each positive vector opens with the expected payload, id and times", arguments: ReferenceVectors.shared.opened)
    func opened(vector: ReferenceVectors.Opened) throws {
        let push = try TestPush.open(
            Array(vector.payload.utf8), key: vector.key, trusting: vector.trust, at: UnixTime(vector.at)
        ).get()
        #expect(push.payload.text == ReferenceVectors.shared.inner)
        #expect(push.messageID == vector.id)
        #expect(push.issuedAt == UnixTime(vector.iat))
        #expect(push.expiresAt == UnixTime(vector.exp))
        #expect(push.signedBy == (try vector.trust.map { try TestKeys.id($0[0]) }))
    }

    @Test("each negative vector is refused with its failure class", arguments: ReferenceVectors.shared.refused)
    func refused(vector: ReferenceVectors.Refused) throws {
        try expectFailure(FailureClass(rawValue: vector.failure)) {
            try TestPush.open(
                Array(vector.payload.utf8), key: vector.key, trusting: vector.trust, topic: vector.topic,
                at: UnixTime(vector.at))
        }
    }
}
