import PushCryptHPKE
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

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
            let overhead = Envelope.overheadByteCount(suite, isSigned: channel.isSigned)
            #expect(sealed.count == count + overhead)
            #expect(try channel.open(sealed, pair.second) == message)
        }
    }

    @Test(
        "the overhead is header, tag and, if signed, signature",
        arguments: [(Suite.p256, 65 + 16), (.x25519, 32 + 16), (.shared, 16 + 16)])
    func overhead(suite: PushCryptCore.Suite, byteCount: Int) {
        #expect(Envelope.overheadByteCount(suite, isSigned: false) == byteCount)
        #expect(Envelope.overheadByteCount(suite, isSigned: true) == byteCount + 64)
    }

    @Test("a truncated or extended envelope is undecryptable", arguments: TestChannel.all, Backends.all)
    func tooShort(channel: TestChannel, backend: NamedBackend) throws {
        let sealed = try channel.seal([], backend.backend)
        for count in (0..<sealed.count).sampled(every: 3) {
            #expect(throws: FailureClass.undecryptable) { try channel.open(Array(sealed[..<count]), backend.backend) }
        }
        #expect(throws: FailureClass.undecryptable) { try channel.open(sealed + [0], backend.backend) }
    }

    @Test(
        "a signed envelope whose plaintext is shorter than a signature is undecryptable",
        arguments: ["p256", "x25519 psk", "shared"], [0, 1, 63])
    func plaintextShorterThanASignature(name: String, count: Int) throws {
        let signed = TestChannel(jwk: .named(name), isSigned: true)
        let forged = try ForgedSignature(signed).seal([UInt8](repeating: 1, count: count))
        #expect(throws: FailureClass.undecryptable) { try signed.open(forged, DefaultBackend.shared) }
    }

    @Test("a signature of 64 zero bytes is undecryptable", arguments: TestChannel.all.filter(\.isSigned))
    func signatureOfZeros(channel: TestChannel) throws {
        let forged = try ForgedSignature(channel).seal([UInt8](repeating: 0, count: 64) + Array("message".utf8))
        #expect(throws: FailureClass.undecryptable) { try channel.open(forged, DefaultBackend.shared) }
    }

    @Test("an enc that isn't a point or has small order is undecryptable", arguments: ["p256", "x25519"], Backends.all)
    func badPoint(name: String, backend: NamedBackend) throws {
        let channel = TestChannel(jwk: .named(name), isSigned: false)
        let sealed = try channel.seal(Array("message".utf8), backend.backend)
        for point in Self.badPoints(name) {
            let changed = point + sealed[point.count...]
            #expect(throws: FailureClass.undecryptable) { try channel.open(changed, backend.backend) }
        }
    }

    private static func badPoints(_ name: String) -> [[UInt8]] {
        guard name == "p256" else {
            let order8 = [
                "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            ]
            let spellings = ["00", "01", "ec", "ed", "ee"].map { first in
                first + String(repeating: first < "10" ? "00" : "ff", count: 30) + (first < "10" ? "00" : "7f")
            }
            return (order8 + spellings).map { [UInt8](hex: $0) }
        }
        let (zeros, ones) = ([UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xff, count: 64))
        return [[0] + zeros, [4] + zeros, [4] + ones, [2] + zeros, [4, 1] + ones.dropLast()]
    }

    @Test("an envelope for another topic is undecryptable", arguments: TestChannel.all)
    func anotherTopic(channel: TestChannel) throws {
        let sealed = try channel.seal(Array("message".utf8), DefaultBackend.shared)
        for topic in ["com.example.ap", "com.example.app2", "com.example.App"] {
            #expect(throws: FailureClass.undecryptable) {
                try channel.open(sealed, DefaultBackend.shared, topic: topic)
            }
        }
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

/// Seals any plaintext in the place of signature and message.
private struct ForgedSignature {
    private let channel: TestChannel

    init(_ channel: TestChannel) {
        self.channel = channel
    }

    func seal(_ plaintext: [UInt8]) throws -> [UInt8] {
        let recipient = try channel.recipient(DefaultBackend.shared)
        let skid = try channel.signer(DefaultBackend.shared)?.kid
        let hasPSK = channel.jwk.members["psk"] != nil
        let info = contextInfo(
            suite: recipient.suite, profile: hasPSK ? [.psk, .signed] : [.signed], kid: recipient.kid, skid: skid,
            topic: try Topic("com.example.app"))
        var sealed: [UInt8] = []
        switch recipient.scheme {
        case .hpke(let scheme): try scheme.seal(plaintext.bytes, info: info.bytes, appendingTo: &sealed)
        case .shared(let scheme): try scheme.seal(plaintext.bytes, info: info.bytes, appendingTo: &sealed)
        }
        return sealed
    }
}
