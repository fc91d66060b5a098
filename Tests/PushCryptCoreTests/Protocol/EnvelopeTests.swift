import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// `EnvelopeVectorTests` of the opener has the envelopes of an attacker.
@Suite struct EnvelopeTests {
    @Test("a payload of the Python reference opens to its message", arguments: OwnVectors.shared.opened, Backends.all)
    func knownAnswer(vector: OwnVectors.Opened, backend: NamedBackend) throws {
        let outer = try OuterPayload(JSONText(Array(vector.payload.utf8)))
        let channel = TestChannel(jwk: .named(vector.key), isSigned: vector.trust != nil)
        #expect(outer.kid.description == channel.jwk.text("kid"))
        #expect((outer.skid != nil) == channel.isSigned)
        let message = try channel.open(outer.sealed, backend.backend, topic: OwnVectors.shared.topic)
        #expect(message.count.isMultiple(of: 128))
        let inner = try InnerPayload(message: message)
        #expect(inner.withoutHeader == Array(OwnVectors.shared.inner.utf8))
        let header = try #require(inner.header(proof: .signature))
        #expect(Base64URL.encode(header.id) == vector.id)
        #expect(header.issuedAt == UnixTime(vector.iat))
        #expect(header.expiresAt == UnixTime(vector.exp))
    }

    @Test(
        "a message of any length that one backend seals opens with the other", arguments: TestChannel.all,
        Backends.pairs)
    func roundTrip(channel: TestChannel, pair: BackendPair) throws {
        var random = SplitMix64(seed: 5)
        for count in [0, 1, 15, 16, 17, 63, 64, 65, 500, 4_000] {
            let message = random.bytes(count)
            let sealed = try channel.seal(message, pair.first)
            let suite = try channel.recipient(pair.first).suite
            #expect(sealed.count == count + suite.overheadByteCount + (channel.isSigned ? 64 : 0))
            #expect(try channel.open(sealed, pair.second) == message)
        }
    }

    @Test("a truncated or extended envelope is undecryptable", arguments: TestChannel.all, Backends.all)
    func tooShort(channel: TestChannel, backend: NamedBackend) throws {
        let sealed = try channel.seal([], backend.backend)
        for count in (0..<sealed.count).sampled(every: 3) {
            #expect(throws: FailureClass.undecryptable) { try channel.open(Array(sealed[..<count]), backend.backend) }
        }
        #expect(throws: FailureClass.undecryptable) { try channel.open(sealed + [0], backend.backend) }
    }

    @Test("two seals of one message have no equal run of 8 bytes", arguments: TestChannel.all)
    func twoSealsShareNothing(channel: TestChannel) throws {
        let message = [UInt8](repeating: 0x20, count: 256)
        let sealed = try (0..<2).map { _ in try channel.seal(message, DefaultBackend.shared) }
        #expect(sealed[0][..<16] != sealed[1][..<16])
        let longestEqualRun = zip(sealed[0], sealed[1]).reduce((0, 0)) { runs, pair in
            let run = pair.0 == pair.1 ? runs.0 + 1 : 0
            return (run, max(runs.1, run))
        }.1
        #expect(longestEqualRun < 8)
    }
}
