import Foundation
import PushCryptExtension
import PushCryptSender
import PushCryptTestSupport
import Testing

/// The attacker chooses a key: he registers a JWK at the backend, or has it listed among the trusted senders.
@Suite("Attacks with chosen keys") struct KeyAttackTests {
    /// A public JWK with one change, and the error of a sender that reads it.
    struct Forgery: Sendable, CustomStringConvertible {
        let description: String
        let jwk: [UInt8]
        let code: KeyError.Code

        init(_ description: String, _ jwk: [UInt8], _ code: KeyError.Code) {
            (self.description, self.jwk, self.code) = (description, jwk, code)
        }

        init(_ what: String, _ key: String, _ old: String, _ new: String, _ code: KeyError.Code) {
            self.init("\(key): \(what)", ReferenceVectors.shared.publicJWK(key).replacing(old, with: new), code)
        }

        /// A private JWK with the `d` of the other key of its kind.
        init(otherD key: String) {
            let (d, other) = (KeyAttackTests.member("d", key), KeyAttackTests.member("d", "other \(key)"))
            let jwk = ReferenceVectors.shared.jwk(key).replacing(#""d":"\#(d)""#, with: #""d":"\#(other)""#)
            self.init("\(key): the d of another key", jwk, .invalidKey)
        }
    }

    private static func member(_ name: String, _ key: String) -> String {
        ReferenceVectors.shared.keys[key]?[name] ?? ""
    }

    static let forgeries: [Forgery] = privateParts + curves + algorithms + identities + points

    private static let privateParts = ["p256", "p256 psk", "x25519", "x25519 psk"].map { key in
        Forgery("\(key): the private part", ReferenceVectors.shared.jwk(key), .wrongKind)
    }

    private static let curves =
        ["P-384", "P-521", "secp256k1", "p-256", "X25519", ""].map {
            Forgery("curve \($0)", "p256", #""crv":"P-256""#, #""crv":"\#($0)""#, .unsupportedKey)
        }
        + ["X448", "Ed25519", "Ed448", "P-256"].map {
            Forgery("curve \($0)", "x25519", #""crv":"X25519""#, #""crv":"\#($0)""#, .unsupportedKey)
        }

    private static let algorithms = [("p256", "HPKE-7"), ("x25519", "HPKE-3"), ("shared", "HKDF-A256GCM")].flatMap {
        key, alg in
        ["none", "None", "HPKE-0", "ECDH-ES", "dir", ""].map {
            Forgery("alg \($0)", key, #""alg":"\#(alg)""#, #""alg":"\#($0)""#, .unsupportedKey)
        }
    }

    private static let identities = [
        Forgery("the kid of another key", "p256", "jWNm9kJQc8Y", "sVDwTtXScNM", .kidMismatch),
        Forgery("the kid of another key", "x25519", "_20Z-S_-56M", "QzfU0rOQVPk", .kidMismatch),
        Forgery("two kids", "p256", #""kty":"#, #""kid":"sVDwTtXScNM","kty":"#, .malformed),
        Forgery("two kty", "x25519", #""x":"#, #""kty":"oct","x":"#, .malformed),
        Forgery(otherD: "p256"), Forgery(otherD: "x25519"),
        Forgery("a sender's key to seal to", ReferenceVectors.shared.publicJWK("sender"), .wrongKind),
    ]

    /// The kid is the right one of the bad point.
    private static let points = [
        Forgery("a P-256 point off the curve", p256(y: member("x", "p256")), .invalidKey),
        Forgery("the X25519 point 0", x25519([UInt8](repeating: 0, count: 32)), .invalidKey),
        Forgery("the X25519 point 1", x25519([1] + [UInt8](repeating: 0, count: 31)), .invalidKey),
        Forgery(
            "an X25519 point of order 8",
            x25519(.init(hex: "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")), .invalidKey),
        Forgery(
            "an X25519 coordinate of p", x25519([0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f]), .invalidKey),
    ]

    private static func p256(y: String) -> [UInt8] {
        jwk(#"{"crv":"P-256","kty":"EC","x":"\#(member("x", "p256"))","y":"\#(y)"}"#, alg: "HPKE-7")
    }

    private static func x25519(_ x: [UInt8]) -> [UInt8] {
        jwk(#"{"crv":"X25519","kty":"OKP","x":"\#(Base64URL.encode(x))"}"#, alg: "HPKE-3")
    }

    /// - Parameter thumbprint: the input of RFC 7638.
    private static func jwk(_ thumbprint: String, alg: String) -> [UInt8] {
        guard let digest = try? Backends.openSSL.backend.sha256(Array(thumbprint.utf8).bytes) else { return [] }
        let kid = Base64URL.encode(Array(digest[..<8]))
        return Array(#"{"alg":"\#(alg)","kid":"\#(kid)",\#(thumbprint.dropFirst())"#.utf8)
    }

    @Test("a stranger registers a forged JWK: its KeyError, nothing is sealed", arguments: forgeries)
    func registration(forgery: Forgery) throws {
        expectKeyError(forgery.code) { try Recipient(jwk: forgery.jwk) }
        // In a set, the same key is refused for the same reason.
        let set = Array(#"{"keys":["#.utf8) + forgery.jwk + Array("]}".utf8)
        expectKeyError(forgery.code) { try Keyset(json: set).recipient(at: TestPush.now) }
    }

    @Test("a JWK set has one kid twice: duplicateKey, or kidMismatch", arguments: ["p256", "x25519", "shared"])
    func duplicateKid(key: String) throws {
        let jwk = ReferenceVectors.shared.publicJWK(key)
        let kid = try TestKeys.id(key).description
        let other = ReferenceVectors.shared.publicJWK("other \(key)")
            .replacing(try TestKeys.id("other \(key)").description, with: kid)
        for (second, code) in [(jwk, KeyError.Code.duplicateKey), (other, .kidMismatch)] {
            let keys = [#"{"keys":["#, jwk.text, ",", second.text, #"],"pushcrypt":{"seq":1,"keys":{"\#(kid)":{}}}}"#]
            expectKeyError(code) { try Keyset(json: Array(keys.joined().utf8)) }
        }
    }

    static let forgedSenders: [Forgery] = [
        Forgery("the private part", ReferenceVectors.shared.jwk("sender"), .wrongKind),
        Forgery("curve Ed448", "sender", #""crv":"Ed25519""#, #""crv":"Ed448""#, .unsupportedKey),
        Forgery("curve X25519", "sender", #""crv":"Ed25519""#, #""crv":"X25519""#, .unsupportedKey),
        Forgery("alg none", "sender", #""alg":"Ed25519""#, #""alg":"none""#, .unsupportedKey),
        Forgery("alg HS256", "sender", #""alg":"Ed25519""#, #""alg":"HS256""#, .unsupportedKey),
        Forgery("the kid of another sender", "sender", "QG8-uR3dGvs", "ycNJpgJHrzI", .kidMismatch),
        Forgery(otherD: "sender"),
        Forgery("a recipient's key", ReferenceVectors.shared.publicJWK("x25519"), .wrongKind),
        Forgery("a shared key", ReferenceVectors.shared.publicJWK("shared"), .wrongKind),
        // A point of order 1: everyone could sign for it.
        Forgery(
            "an Ed25519 point of small order",
            jwk(
                #"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64URL.encode([1] + [UInt8](repeating: 0, count: 31)))"}"#,
                alg: "Ed25519"), .invalidKey),
    ]

    @Test("a signed set lists a forged sender key: unsuitable, and no push opens", arguments: forgedSenders)
    func sender(forgery: Forgery) async throws {
        let folder = try TemporaryFolder()
        let pins = try SenderPins(folder: folder.path + "/pins", publishers: .test(), topic: TestPush.topic)
        let forged = try TestSenderSet().document(listing: forgery.jwk)
        expectDeviceKeyError(.unsuitable) { try pins.accept(forged, at: TestPush.now) }
        #expect(try pins.version() == nil)
        let phone = AttackedPhone(.init(key: "p256", isSigned: true))
        expectOwnTextShown(try await phone.show(phone.push(), senders: .pinned(pins)), .unknownKey)
        let good = try TestSenderSet().document(listing: ReferenceVectors.shared.publicJWK("sender"))
        #expect(try pins.accept(good, at: TestPush.now))
        expectSecretShown(try await phone.show(phone.push(), senders: .pinned(pins)))
        if forgery.code != .wrongKind {
            expectKeyError(forgery.code) { try TrustedSenders(json: forgery.jwk) }
        }
    }
}

/// The attacker has a key that was good once, such as a former employee with a sender key that was rotated out. The
/// phone's pins are files, as in an app. `SenderSetAttackTests` has revoked senders and old sets.
@Suite("Attacks with keys that were good once") struct SenderAttackTests {
    private typealias Set = TestSenderSet
    private let folder = TemporaryFolder.make()
    private let phone = AttackedPhone(.init(key: "p256", isSigned: true))
    private let pins: SenderPins

    init() throws {
        pins = try SenderPins(folder: folder.path + "/pins", publishers: .test(), topic: TestPush.topic)
    }

    /// A push that the named sender key signed, shown by an app that uses the pins.
    private func show(signedBy sender: String) async throws -> DeliverySession.Delivery {
        let payload = try TestPush(signer: sender, json: AttackedPhone.secret).sealed()
        return try await phone.show(payload, senders: .pinned(pins))
    }

    @Test("a stranger signs a push: unknownKey, the app's own text")
    func stranger() async throws {
        try pins.accept(Set().document(), at: TestPush.now)
        expectOwnTextShown(try await show(signedBy: "other sender"), .unknownKey)
        expectSecretShown(try await show(signedBy: "sender"))
    }

    @Test("a rotated-out sender signs a push: keyExpired after its overlap, unknownKey when the set no longer lists it")
    func rotatedOut() async throws {
        let rotated = KeyLifecycle(activatesAt: UnixTime(0), retiresAt: TestPush.now - 100, expiresAt: TestPush.now)
        let overlap = Set(keys: [("other sender", rotated), ("sender", .always)], sequence: 2)
        try pins.accept(overlap.document(), at: TestPush.now)
        expectOwnTextShown(try await show(signedBy: "other sender"), .keyExpired)
        expectSecretShown(try await show(signedBy: "sender"))
        try pins.accept(Set(sequence: 3).document(), at: TestPush.now)
        expectOwnTextShown(try await show(signedBy: "other sender"), .unknownKey)
    }

    @Test("an attacker deletes or damages the pins: every push is refused, and none counts as unsigned")
    func damagedPins() async throws {
        try pins.accept(Set().document(), at: TestPush.now)
        let file = folder.file("pins/\(Set.file)")
        let good = try Data(contentsOf: file)
        let unsigned = try TestPush(json: AttackedPhone.secret).sealed()
        for content in [Data("{}".utf8), good.dropLast(9), nil] {
            try FileManager.default.removeItem(at: file)
            if let content {
                try content.write(to: file)
                try folder.setMode(0o600, of: "pins/\(Set.file)")
            }
            expectOwnTextShown(try await show(signedBy: "sender"), .unknownKey)
            expectOwnTextShown(try await phone.show(unsigned, senders: .pinned(pins)), .unknownKey)
        }
    }

    @Test("a push is sealed to a revoked key of the phone: keyRevoked, and the sender library refuses to seal to it")
    func revokedRecipient() async throws {
        let phone = AttackedPhone(.init(key: "p256", isSigned: false))
        let revoked = try TestKeys.keyset("p256", .revoked(at: TestPush.now - 1))
        expectOwnTextShown(try await phone.show(phone.push(), keys: revoked), .keyRevoked)
        expectKeyError(.noKeySeals) { try revoked.publicKeyset(keepingPSK: true).recipient(at: TestPush.now) }
        let sender = try TestKeys.keyset("sender", .revoked(at: TestPush.now - 1))
        expectKeyError(.noKeySeals) { try sender.senderKey(at: TestPush.now) }
    }
}
