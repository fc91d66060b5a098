import PushCryptExtension
import PushCryptSender
import PushCryptTestSupport
import Testing

/// The attacker writes the text: a relay the outer payload, a sender with the keys the message and the offloaded payload, a
/// stranger the JWK that he registers, a server the list of trusted senders, a user of the backend's API the payload to
/// seal. `HostileFileAttackTests` has files and batches.
@Suite("Attacks with hostile JSON") struct HostileTextAttackTests {
    private let phone = AttackedPhone(.init(key: "x25519", isSigned: false))

    private static let message = Array(
        #"{"aps":{"alert":"x"},"pushcrypt":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1800000000,"exp":1800000060}}"#.utf8)

    /// An outer payload around any bytes, which everyone with the public key can make.
    private func sealed(_ message: [UInt8]) throws -> [UInt8] {
        try TestPush(key: "x25519").sealedAsMessage(message)
    }

    @Test("a hostile text as the outer payload: malformed, the app's own text", arguments: HostileText.allCases)
    func outerPayload(hostile: HostileText) async throws {
        let payload = try phone.push()
        expectOwnTextShown(try await phone.show(hostile.text(from: payload)), .malformed)
        expectSecretShown(try await phone.show(payload))
    }

    @Test("a number of 10 MB in the outer payload: malformed as the version, ignored as an unknown member")
    func longNumberInOuterPayload() async throws {
        let payload = try phone.push()
        let digits = String(repeating: "1", count: HostileText.numberByteCount)
        let version = payload.replacing(#""v":1"#, with: #""v":\#(digits)"#)
        expectOwnTextShown(try await phone.show(version), .malformed)
        expectSecretShown(try await phone.show(HostileText.withLongNumber(payload)))
    }

    @Test("a hostile text as the sealed message: malformed, the app's own text", arguments: HostileText.allCases)
    func message(hostile: HostileText) async throws {
        let payload = try sealed(hostile.text(from: Self.message))
        expectOwnTextShown(try await phone.show(payload), .malformed)
    }

    @Test("a number of 500,000 bytes, in a long run 10 MB, in the sealed message: malformed, the app's own text")
    func longNumberInMessage() async throws {
        #expect(try await phone.show(sealed(Self.message)).failure == nil)
        // A message is refused by its length. A debug build needs half a minute to encode 10 MB as base64url.
        let byteCount = LongTests.value(HostileText.numberByteCount, short: 500_000)
        let payload = try sealed(HostileText.withLongNumber(Self.message, byteCount: byteCount))
        expectOwnTextShown(try await phone.show(payload), .malformed)
    }

    @Test("a hostile text as the offloaded payload: the short sealed alert", arguments: HostileText.allCases)
    func offloadedPayload(hostile: HostileText) async throws {
        let whole = Array(#"{"aps":{"alert":"whole"}}"#.utf8)
        #expect(try await offloading(whole).content.body.literal == "whole")
        let text = hostile.text(from: whole)
        guard text.count <= OffloadReference.maximumSize else {
            // The reference can't be written, and a hand-made one makes the message malformed.
            let blob = try SealedBlob(text, for: .payload)
            #expect(throws: (any Error).self) {
                try OffloadReference(url: "https://example.com/9", blob: blob.reference)
            }
            return
        }
        let delivery = try await offloading(text)
        #expect(delivery.failure == .attachmentFailed && delivery.isRestored)
        #expect(delivery.content.body.literal == "short")
    }

    /// Shows a push whose offloaded payload is this text.
    private func offloading(_ text: [UInt8]) async throws -> DeliverySession.Delivery {
        let blob = try SealedBlob(text, for: .payload)
        return try await phone.show(TestPush.offloading(blob, key: "x25519")) {
            $0.offload = OffloadFetcher(transport: OneBody(bytes: blob.bytes))
        }
    }

    @Test("a hostile text as a registered JWK: KeyError malformed, nothing is sealed", arguments: HostileText.allCases)
    func registration(hostile: HostileText) throws {
        for key in ["p256", "x25519 psk", "device"] {
            let text = hostile.text(from: ReferenceVectors.shared.publicJWK(key))
            expectKeyError(.malformed) { try Recipient(jwk: text) }
        }
    }

    @Test("a number of 1 MB (10 MB in the long form) in a JWK is ignored as an unknown member, refused as a coordinate")
    func longNumberInRegistration() throws {
        let byteCount = LongTests.value(HostileText.numberByteCount, short: 1_000_000)
        let jwk = ReferenceVectors.shared.publicJWK("x25519")
        #expect(try Recipient(jwk: HostileText.withLongNumber(jwk, byteCount: byteCount)).kid == TestKeys.id("x25519"))
        let digits = String(repeating: "1", count: byteCount)
        let coordinate = jwk.replacing(#""x":""#, with: #""x":\#(digits),"y":""#)
        expectKeyError(.malformed) { try Recipient(jwk: coordinate) }
    }

    @Test("a hostile text as the list of senders: unsuitable, nothing is pinned", arguments: HostileText.allCases)
    func trustedSenders(hostile: HostileText) throws {
        let folder = try TemporaryFolder()
        let pins = UnsignedSenderPins(folder: folder.path + "/pins")
        let text = hostile.text(from: ReferenceVectors.shared.publicJWK("sender"))
        expectDeviceKeyError(.unsuitable) { try pins.pinFirst(json: text) }
        #expect(try pins.sequence() == nil)
        expectKeyError(.malformed) { try TrustedSenders(json: text) }
    }

    /// Expects a payload that a user of the backend's API writes not to be sealed.
    private func expectNotSealed(_ text: [UInt8]) throws {
        let sealer = try Sealer(topic: TestPush.topic, clock: { TestPush.now })
        expectCode(.invalidPayload, of: \SenderError.code) {
            try sealer.seal(text, to: TestKeys.recipient("x25519"), placeholder: .standard)
        }
    }

    @Test("a hostile text as the payload to seal: invalidPayload, nothing is sealed", arguments: HostileText.allCases)
    func payloadToSeal(hostile: HostileText) throws {
        try expectNotSealed(hostile.text(from: Array(#"{"aps":{"alert":"x"}}"#.utf8)))
    }

    @Test("a number of 10 MB in the payload to seal: invalidPayload, nothing is sealed")
    func longNumberToSeal() throws {
        try expectNotSealed(HostileText.withLongNumber(Array(#"{"aps":{"alert":"x"}}"#.utf8)))
    }
}
