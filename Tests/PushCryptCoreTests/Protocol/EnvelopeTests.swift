import PushCryptPrimitives
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

/// The bytes of the context info, for tests that compare them or seal with them.
func contextInfo(suite: PushCryptCore.Suite, profile: Profile, kid: KeyID, skid: KeyID?, topic: Topic) -> [UInt8] {
    withContextInfo(suite: suite, profile: profile, kid: kid, skid: skid, topic: topic) { info in Array(info) }
}

@Suite struct ContextInfoTests {
    private static let kid = KeyID(thumbprint: [0xd3, 0xef, 0xf3, 0x67, 0xdf, 0xbf, 0x69, 0xb1])
    private static let skid = KeyID(thumbprint: [UInt8](repeating: 0, count: 32))

    @Test("the context info of a signed message with psk has the documented bytes")
    func bytes() throws {
        let info = contextInfo(
            suite: .x25519, profile: [.psk, .signed], kid: Self.kid, skid: Self.skid,
            topic: try Topic("com.example.app"))
        let expected = "pushcrypt/1\0\u{2}\u{3}\0\u{B}\(Self.kid)\0\u{B}\(Self.skid)\0\u{F}com.example.app"
        #expect(info == Array(expected.utf8))
    }

    @Test("the Python reference computes the same context info")
    func referenceAgrees() throws {
        let known = OwnVectors.shared.contextInfo
        let info = contextInfo(
            suite: .p256, profile: [.psk, .signed], kid: try TestJWK.named(known.key).record().kid,
            skid: try TestJWK.named(known.signer).record().kid, topic: try Topic(OwnVectors.shared.topic))
        #expect(info == known.hex.bytes)
    }

    @Test("the longest context info has 197 bytes")
    func longest() throws {
        let topic = try Topic(String(repeating: "a", count: 155))
        let info = contextInfo(suite: .shared, profile: [.signed], kid: Self.kid, skid: Self.skid, topic: topic)
        #expect(info.count == 197)
    }

    @Test("a string is prefixed with its length as a big-endian u16", arguments: [0, 1, 255, 256, 65_535])
    func lengthPrefix(count: Int) {
        let text = String(repeating: "é", count: count / 2) + (count % 2 == 1 ? "e" : "")
        let bytes = withTemporaryBytes(capacity: 3 + count) { bytes in
            bytes.append(9)
            bytes.append(lengthPrefixed: text)
            return Array(bytes.bytes)
        }
        #expect(bytes.count == 3 + count)
        #expect(Array(bytes[..<3]) == [9, UInt8(count >> 8), UInt8(count & 0xff)])
    }

    @Test("the input of the signature has the documented bytes")
    func signatureInput() {
        let (info, message) = (Array("info".utf8), Array("message".utf8))
        let input = MessageSignature.input(
            info: info.bytes, recipientName: Array("recipient".utf8), message: message.bytes)
        #expect(input == Array("pushcrypt/1 signature\0inforecipientmessage".utf8))
    }
}
