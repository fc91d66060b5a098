import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// The attacker is the server of the blobs. It has the blobs and no reference, and returns what it wants. `HostileServerTests`
/// has a server that violates HTTP.
@Suite("Attacks on blobs") struct BlobAttackTests {
    /// A chunk's bytes in a blob, with its tag.
    private static let chunk = 65_536 + 16
    private static let headerByteCount = 4

    enum Attack: CaseIterable, Sendable {
        case swapChunks, repeatChunk, dropFirstChunk, dropMiddleChunk, dropLastChunk, lastByteCut, onlyHeader, empty
        case extended, appendedChunk, changedByte, changedHeader, blobOfAnotherPush, chunkOfAnotherBlob

        func apply(to blob: [UInt8], other: [UInt8]) -> [UInt8] {
            let header = Array(blob[..<headerByteCount])
            var chunks = BlobAttackTests.chunks(blob)
            switch self {
            case .swapChunks: chunks.swapAt(0, 1)
            case .repeatChunk: chunks[1] = chunks[0]
            case .dropFirstChunk: chunks.removeFirst()
            case .dropMiddleChunk: chunks.remove(at: 1)
            case .dropLastChunk: chunks.removeLast()
            case .lastByteCut: return blob.dropLast()
            case .onlyHeader: return header
            case .empty: return []
            case .extended: return blob + [0]
            case .appendedChunk: chunks.append(chunks[0])
            case .changedByte: chunks[1][7] ^= 1
            case .changedHeader: return [header[0] ^ 1] + blob.dropFirst()
            case .blobOfAnotherPush: return other
            case .chunkOfAnotherBlob: chunks[1] = BlobAttackTests.chunks(other)[1]
            }
            return header + chunks.flatMap { $0 }
        }
    }

    private static func chunks(_ blob: [UInt8]) -> [[UInt8]] {
        stride(from: headerByteCount, to: blob.count, by: chunk).map { Array(blob[$0..<min($0 + chunk, blob.count)]) }
    }

    private static func offloaded(_ letter: String) throws -> SealedBlob {
        try Sealer.offload(
            Array(#"{"aps":{"alert":"whole \#(letter)"},"x":"\#(String(repeating: letter, count: 180_000))"}"#.utf8))
    }

    @Test("a server changes an offloaded blob: attachmentFailed, the short sealed alert", arguments: Attack.allCases)
    func offload(attack: Attack) async throws {
        let blob = try Self.offloaded("a")
        let push = try TestPush.offloading(blob, key: "x25519")
        let body = attack.apply(to: blob.bytes, other: try Self.offloaded("b").bytes)
        #expect(body != blob.bytes)
        for (body, isWhole) in [(body, false), (blob.bytes, true)] {
            let phone = AttackedPhone(.init(key: "x25519", isSigned: false))
            let delivery = try await phone.show(push) { $0.offload = OffloadFetcher(transport: OneBody(bytes: body)) }
            #expect(delivery.failure == (isWhole ? nil : .attachmentFailed) && delivery.isRestored)
            #expect(delivery.content.body.literal == (isWhole ? "whole a" : "short"))
            #expect(delivery.stageFailures.map(\.stage) == (isWhole ? [] : ["offload"]))
        }
    }

    @Test("a server changes an attachment's blob: attachmentFailed, the text alone", arguments: Attack.allCases)
    func attachment(attack: Attack) async throws {
        let folder = try TemporaryFolder()
        let png = [UInt8](hex: "89504E470D0A1A0A0000000D49484452")
        let blobs = try [0, 1].map { seed in
            try SealedBlob(png + (0..<180_000).map { UInt8(truncatingIfNeeded: $0 * 31 + seed) }, for: .attachment)
        }
        let reference = try AttachmentReference(
            url: "https://example.com/a", blob: blobs[0].reference, type: "image/png", id: nil)
        let push = try TestPush(key: "x25519", json: AttackedPhone.secret, attachments: [reference]).sealed()
        let body = attack.apply(to: blobs[0].bytes, other: blobs[1].bytes)
        for (body, isWhole) in [(body, false), (blobs[0].bytes, true)] {
            let phone = AttackedPhone(.init(key: "x25519", isSigned: false))
            let delivery = try await phone.show(push) {
                $0.attachments = AttachmentStage(
                    configuration: .init(folder: folder.path + "/files"), transport: OneBody(bytes: body),
                    timer: ManualTimer())
            }
            #expect(delivery.failure == (isWhole ? nil : .attachmentFailed) && delivery.isRestored)
            #expect(delivery.content.title.literal == "Zoë")
            #expect(delivery.content.attachments.count == (isWhole ? 1 : 0))
            #expect(try folder.names(in: "files").count == (isWhole ? 1 : 0))
        }
    }
}

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

    @Test(
        "a hostile text as the signed set of senders, or as what a publisher signed: unsuitable, nothing is accepted",
        arguments: HostileText.allCases)
    func trustedSenders(hostile: HostileText) throws {
        let folder = try TemporaryFolder()
        let pins = try SenderPins(folder: folder.path + "/pins", publishers: .test(), topic: TestPush.topic)
        let good = try TestSenderSet().document()
        let payload = try #require(SignedSenderSet.unverifiedPayload(of: good))
        let forged = try TestSenderSet.document(payload: hostile.text(from: payload))
        for document in [hostile.text(from: good), forged] {
            expectDeviceKeyError(.unsuitable) { try pins.accept(document, at: TestPush.now) }
        }
        #expect(try pins.version() == nil)
        #expect(try pins.accept(TestSenderSet.document(payload: payload), at: TestPush.now))
        let text = hostile.text(from: ReferenceVectors.shared.publicJWK("sender"))
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
