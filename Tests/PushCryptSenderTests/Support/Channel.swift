import Foundation
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport

/// A recipient's key with a profile: the ways a push can be sealed.
struct Channel: Sendable, CustomStringConvertible {
    let key: String
    let isSigned: Bool
    var backend: any CryptoBackend = Backends.openSSL.backend

    var description: String { "\(key)\(isSigned ? " signed" : "") \(backend.name)" }

    static let all = ["p256", "p256 psk", "x25519", "x25519 psk", "shared", "device"].flatMap { key in
        [Channel(key: key, isSigned: false), Channel(key: key, isSigned: true)]
    }
    static let allOnBoth = Backends.all.flatMap { named in
        all.map { Channel(key: $0.key, isSigned: $0.isSigned, backend: named.backend) }
    }
    /// The cheapest channel, for tests that don't depend on the suite.
    static let simple = Channel(key: "shared", isSigned: false)

    static let now = UnixTime(1_800_000_000)
    static let placeholder = Placeholder.literal(title: "New message", body: nil)

    func recipient() throws -> Recipient {
        try Recipient(jwk: TestKeys.publicJWK(key), backend: backend)
    }

    func sealer(_ options: Sealer.Options = Sealer.Options(), topic: String = "com.example.app") throws -> Sealer {
        let signer = isSigned ? try TestKeys.sender(backend) : nil
        return try Sealer(topic: topic, signer: signer.map(Signer.key), options: options, clock: { Self.now })
    }

    func seal(
        _ json: String, _ options: Sealer.Options = Sealer.Options(), placeholder: Placeholder = Channel.placeholder
    ) throws -> SealedPush {
        try sealer(options).seal(Array(json.utf8), to: recipient(), placeholder: placeholder)
    }
}
