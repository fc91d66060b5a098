import PushCryptSender
import PushCryptSimulator
import Testing

/// A phone whose pushes an attacker can change, with the backend that seals them: the sender library on one side, the
/// extension library with its real store on the other.
struct AttackedPhone {
    /// Whose key it is, and whether the app pins the backend's signing key.
    struct Profile: Sendable, CustomStringConvertible {
        let key: String
        let isSigned: Bool
        var description: String { isSigned ? "\(key), signed" : key }

        static let all = ["p256", "p256 psk", "x25519", "x25519 psk", "shared", "device"].flatMap { key in
            [Profile(key: key, isSigned: false), Profile(key: key, isSigned: true)]
        }
        static let signed = all.filter(\.isSigned)
        static let unsigned = all.filter { !$0.isSigned }
    }

    static let ownTitle = "My App"
    static let secret = #"{"aps":{"alert":{"title":"Zoë","body":"Meet me at nine"},"category":"INVITE"},"room":7}"#
    let profile: Profile
    var topic = TestPush.topic
    private let folder = StoreFolder()

    init(_ profile: Profile) { self.profile = profile }

    func push(_ json: String = secret, options: Sealer.Options = .init()) throws -> [UInt8] {
        try TestPush(key: profile.key, signer: profile.isSigned ? "sender" : nil, json: json, options: options).sealed()
    }

    /// Runs the extension for one payload. Each call opens the store again, as a new process does.
    ///
    /// - Parameters:
    ///   - keys: the phone's keys, if it has others than the profile's.
    ///   - senders: the pinned senders, if they are others than the backend's.
    func show(
        _ payload: [UInt8], at time: UnixTime = TestPush.now, keys: Keyset? = nil, senders: SenderTrust? = nil,
        _ change: (inout ExtensionConfiguration) throws -> Void = { _ in }
    ) async throws -> DeliverySession.Delivery {
        let usual = try profile.isSigned ? SenderTrust.pinned(TestKeys.trusted(["sender"])) : .unsigned
        let keyring = try KeysetKeyring(keys ?? TestKeys.keyset(profile.key))
        return try await deliver(payload, at: time) {
            $0.opener = try Opener(topic: topic, keyring: keyring, senders: senders ?? usual)
            $0.fallback = .bundled(.literal(title: Self.ownTitle, body: nil))
            $0.store = folder.store()
            try change(&$0)
        }
    }
}

/// Expects that the phone shows exactly ``AttackedPhone/secret``.
func expectSecretShown(_ delivery: DeliverySession.Delivery, location: SourceLocation = #_sourceLocation) {
    var content = NotificationContent()
    content.title.literal = "Zoë"
    content.body.literal = "Meet me at nine"
    content.category = "INVITE"
    content.userInfo = Array(AttackedPhone.secret.utf8)
    #expect(delivery.failure == nil && delivery.isRestored, sourceLocation: location)
    #expect(delivery.content == content, sourceLocation: location)
}

/// Expects that the phone shows the app's own text and nothing of the payload: no category, no badge, no target and no
/// member for the app but the failure class.
func expectOwnTextShown(
    _ delivery: DeliverySession.Delivery, _ failure: FailureClass, hasSound: Bool = false, _ comment: Comment? = nil,
    location: SourceLocation = #_sourceLocation
) {
    var content = NotificationContent()
    content.title.literal = AttackedPhone.ownTitle
    let kept = keptMessage(delivery.content.userInfo, after: failure)
    content.userInfo = Array(#"{"pushcrypt":{\#(kept)"status":"failed","reason":"\#(failure)"}}"#.utf8)
    if hasSound { content.sound = NotificationContent.Sound(name: "default") }
    #expect(delivery.failure == failure, comment, sourceLocation: location)
    #expect(!delivery.isRestored, comment, sourceLocation: location)
    #expect(delivery.content == content, comment, sourceLocation: location)
}

/// The sealed message in a placeholder, which only failures that can pass keep: its members as text, with a comma after each.
private func keptMessage(_ userInfo: [UInt8], after failure: FailureClass) -> String {
    guard [.keyLocked, .timedOut, .unknownKey, .keyExpired].contains(failure),
        let envelope = (try? JSONText(userInfo))?.root["pushcrypt"]
    else { return "" }
    return envelope.members.filter { ["v", "kid", "sealed", "skid"].contains($0.name) }.map { member in
        "\"\(member.name)\":\(String(decoding: member.value.rawBytes, as: UTF8.self)),"
    }.joined()
}

/// What a relay can do to the text of a payload.
extension [UInt8] {
    func member(_ name: String) throws -> String {
        let match = try #require(
            text.firstMatch(of: try Regex("\"\(name)\":\"([^\"]*)\"", as: (Substring, Substring).self)))
        return String(match.output.1)
    }

    func with(_ name: String, _ value: String) throws -> [UInt8] {
        replacing("\"\(name)\":\"\(try member(name))\"", with: "\"\(name)\":\"\(value)\"")
    }

    func changingSealed(_ change: (inout [UInt8]) -> Void) throws -> [UInt8] {
        var sealed = try #require(Base64URL.decode(Array(member("sealed").utf8)[...]))
        change(&sealed)
        return try with("sealed", Base64URL.encode(sealed))
    }

    func withTamperedTag() throws -> [UInt8] { try changingSealed { $0[$0.count - 1] ^= 1 } }
    func withoutSKID() throws -> [UInt8] { replacing(#","skid":"\#(try member("skid"))""#, with: "") }
}
