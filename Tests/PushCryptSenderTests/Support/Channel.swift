import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport

/// A recipient's key with a profile: the ways a push can be sealed.
struct Channel: Sendable, CustomStringConvertible {
    let key: String
    let isSigned: Bool
    var backend: any CryptoBackend = Backends.openSSL.backend

    var description: String { "\(key)\(isSigned ? " signed" : "") \(backend.name)" }

    private static let keys =
        ["p256", "p256 psk", "x25519", "x25519 psk", "shared", "device"]
        + (Suite.xWing.isAvailable ? ["xwing", "xwing psk"] : [])
    static let all = keys.flatMap { [Channel(key: $0, isSigned: false), Channel(key: $0, isSigned: true)] }
    static let allOnBoth = Backends.all.flatMap { named in
        all.filter { !$0.isXWing || named.backend.supports(.xWing) }
            .map { Channel(key: $0.key, isSigned: $0.isSigned, backend: named.backend) }
    }
    /// The cheapest channel, for tests that don't depend on the suite.
    static let simple = Channel(key: "shared", isSigned: false)

    var isXWing: Bool { key.hasPrefix("xwing") }
    /// Whether a push proves nothing about its sender: an unsigned one to a public key without psk.
    var isWithoutProof: Bool { !isSigned && ["p256", "x25519", "xwing"].contains(key) }
    /// How much longer a push is than one of the other suites, in bytes and rounded up.
    var extraByteCount: Int { isXWing ? 1_500 : 0 }

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

/// The keys of Conformance/vectors/pushcrypt-v1.json and, where the machine has suite 3, those of xwing-keys.json.
struct TestKeys: Decodable {
    private(set) var keys: [String: [String: String]]

    private static let shared: TestKeys = {
        var shared = try! Vectors.loadOwn("pushcrypt-v1.json", as: TestKeys.self)
        guard Suite.xWing.isAvailable else { return shared }
        shared.keys.merge(try! Vectors.loadOwn("xwing-keys.json", as: TestKeys.self).keys) { $1 }
        return shared
    }()

    static func privateJWK(_ name: String) -> [UInt8] { jwk(name) { _ in true } }

    static func publicJWK(_ name: String) -> [UInt8] { jwk(name) { !["d", "priv"].contains($0) } }

    static func sender(_ backend: any CryptoBackend) throws -> SenderKey {
        try Keyset(json: privateJWK("sender"), backend: backend).senderKey(at: UnixTime(0))
    }

    private static func jwk(_ name: String, _ isIncluded: (String) -> Bool) -> [UInt8] {
        guard let record = shared.keys[name] else { preconditionFailure("no key is named \(name)") }
        let members = record.filter { isIncluded($0.key) }.map { "\"\($0.key)\":\"\($0.value)\"" }
        return Array("{\(members.sorted().joined(separator: ","))}".utf8)
    }
}
