import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport

/// A recipient's key with a profile, and the backends of both sides.
struct Channel: Sendable, CustomStringConvertible {
    let key: String
    let isSigned: Bool
    var sender: any CryptoBackend = Backends.openSSL.backend
    var receiver: any CryptoBackend = Backends.openSSL.backend

    var description: String { "\(key)\(isSigned ? " signed" : ""), \(sender.name) to \(receiver.name)" }

    static let all = ["p256", "p256 psk", "x25519", "x25519 psk", "shared", "device"].flatMap { key in
        [Channel(key: key, isSigned: false), Channel(key: key, isSigned: true)]
    }
    static let crosswise = Backends.pairs.flatMap { pair in
        all.map { Channel(key: $0.key, isSigned: $0.isSigned, sender: pair.first, receiver: pair.second) }
    }
    /// The channels in which OpenSSL seals and either backend opens.
    static let opened = crosswise.filter { $0.sender.name == Backends.openSSL.backend.name }
    /// The cheapest channel, for tests that don't depend on the suite.
    static let simple = Channel(key: "shared", isSigned: false)

    static let topic = "com.example.app"
    static let now = UnixTime(1_800_000_000)
    static let placeholder = Placeholder.literal(title: "New message", body: nil)

    func sealer(topic: String = Channel.topic) throws -> Sealer {
        let signer = isSigned ? try TestKeys.keyset("sender", sender).senderKey(at: Self.now) : nil
        return try Sealer(
            topic: topic, signer: signer.map(Signer.key), options: .init(padding: .none), clock: { Self.now })
    }

    func seal(_ json: String = #"{"aps":{"alert":"x"}}"#) throws -> [UInt8] {
        let recipient = try Recipient(jwk: TestKeys.publicJWK(key), backend: sender)
        return Array(try sealer().seal(Array(json.utf8), to: recipient, placeholder: Self.placeholder).json)
    }

    func trustedSenders() throws -> TrustedSenders {
        try TrustedSenders(Keyset(json: TestKeys.publicJWK("sender"), backend: receiver))
    }

    /// Pins the sender if messages are signed.
    func opener() throws -> Opener {
        try opener(senders: isSigned ? .pinned(trustedSenders()) : .unsigned)
    }

    func opener(topic: String = Channel.topic, senders: SenderTrust) throws -> Opener {
        try Opener(topic: topic, keyring: KeysetKeyring(TestKeys.keyset(key, receiver)), senders: senders)
    }

    func open(_ payload: [UInt8]) throws -> Result<OpenedPush, FailureClass> {
        try opener().open(payload, at: Self.now)
    }
}
