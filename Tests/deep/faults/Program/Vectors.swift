import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives

/// Keys of Conformance/vectors. The files are read before any allocation fails.
enum Vectors {
    static let time = UnixTime(1_800_000_000)
    static let topic = "com.example.app"
    static let lifecycle = KeyLifecycle(activatesAt: UnixTime(0))
    static let inner = Array(#"{"aps":{"alert":{"title":"Results","body":"All clear."},"badge":2},"n":1.50}"#.utf8)

    /// PBES2 with PBKDF2-HMAC-SHA-256, 10 iterations, and AES-256-CBC; salt and IV are zeros (RFC 8018 appendix A.4).
    static let cheapScheme: [UInt8] = {
        func sequence(_ content: [UInt8]) -> [UInt8] { [0x30, UInt8(content.count)] + content }
        func bytes(_ count: Int) -> [UInt8] { [0x04, UInt8(count)] + [UInt8](repeating: 0, count: count) }
        let pkcs5: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05]
        let hmacSHA256: [UInt8] = [0x06, 8, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x09, 0x05, 0x00]
        let aes256CBC: [UInt8] = [0x06, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a]
        let pbkdf2 = sequence([0x06, 9] + pkcs5 + [0x0c] + sequence(bytes(16) + [0x02, 1, 10] + sequence(hmacSHA256)))
        return sequence([0x06, 9] + pkcs5 + [0x0d] + sequence(pbkdf2 + sequence(aes256CBC + bytes(16))))
    }()

    struct Container {
        let pem: [UInt8]
        let publicKey: [UInt8]
        let passphrase: SecretBytes?
    }

    struct Missing: Error {
        let name: String
    }

    static func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8).bytes) }

    static func jwk(_ name: String) throws -> [UInt8] { Array(try protocolKey(name).rawBytes) }
    static func kid(_ name: String) throws -> String? { try protocolKey(name)["kid"]?.string }

    static func entry(_ name: String) throws -> Keyset.Entry {
        Keyset.Entry(try KeyRecord(protocolKey(name), backend: DefaultBackend.shared), lifecycle)
    }

    static func container(_ name: String) throws -> Container {
        guard let key = containers["keys"]?.elements.first(where: { $0["name"]?.string == name }),
            let pem = key["pem"]?.utf8, let hex = key["publicKey"]?.utf8,
            let passphrase = containers["passphrase"]?.string
        else { throw Missing(name: name) }
        let isEncrypted = key["isEncrypted"]?.boolean == true
        return Container(
            pem: Array(pem), publicKey: bytes(hex: hex), passphrase: isEncrypted ? secret(passphrase) : nil)
    }

    private static func bytes(hex: ArraySlice<UInt8>) -> [UInt8] {
        let digits = Array(String(decoding: hex, as: UTF8.self))
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...($0 + 1)]), radix: 16)! }
    }

    private static func protocolKey(_ name: String) throws -> JSONValue {
        let file = name.hasPrefix("xwing") ? xWingKeys : protocolVectors
        guard let key = file["keys"]?[name] else { throw Missing(name: name) }
        return key
    }

    private static let protocolVectors = read("pushcrypt-v1.json")
    private static let xWingKeys = read("xwing-keys.json")
    private static let containers = read("key-containers.json")

    private static func read(_ name: String) -> JSONValue {
        let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        do {
            let file = project.appendingPathComponent("Conformance/vectors/" + name)
            return try JSONText(Array(Data(contentsOf: file))).root
        } catch {
            preconditionFailure("\(name): \(error)")
        }
    }
}

extension KeyRecord {
    /// The public key as the vectors have it.
    var serializedPublicKey: [UInt8] {
        switch material {
        case .recipient(let key, _, _): key.serialized
        case .sender(let key, _), .publisher(let key, _): key.serialized
        case .shared: []
        }
    }
}

/// A publisher and its set of the vectors' sender key.
struct SenderSet {
    private let publisher: KeyRecord
    private let keyset: Keyset
    private let publication: SenderSetPublication

    init() throws {
        let backend = DefaultBackend.shared
        let key = try backend.signingKey([UInt8](repeating: 4, count: 32).bytes)
        publisher = try KeyRecord(.publisher(publicKey: key.publicKey, privateKey: key), backend: backend)
        let sender = try Vectors.entry("sender").record.publicRecord(keepingPSK: false)
        keyset = try Keyset([Keyset.Entry(sender, Vectors.lifecycle)])
        publication = try SenderSetPublication(
            set: [UInt8](repeating: 7, count: 16), topics: [Topic(Vectors.topic)], epoch: 1, sequence: 1,
            issuedAt: Vectors.time, validUntil: Vectors.time + 86_400)
    }

    func document() throws -> [UInt8] { try SignedSenderSet.sign(keyset, publication, by: [publisher]) }

    func isAccepted(_ document: [UInt8]) throws -> Bool {
        let set = try SignedSenderSet.verify(document, publishers: [publisher.publicRecord(keepingPSK: false)])
        return set.publication == publication && set.keyset.keyIDs == keyset.keyIDs
    }
}

/// A keyset that is encrypted with the cheapest parameters of scrypt.
enum EncryptedKeyset {
    private static let secret = KeysetSecret.passphrase(Vectors.secret("correct horse"))

    static func file() throws -> [UInt8] {
        let record = try Vectors.entry("x25519").record
        let secrets = try KeysetSecrets(
            ofLog: [(SecretName("one")!, secret)], ScryptParameters(n: 2, r: 1, p: 1))
        let material = KeysetMaterial(
            records: [record.kid: record], secrets: secrets, historyKey: try .random())
        var (changes, key) = (KeysetChanges(), KeysetChanges.Key(record.kid))
        key.jwk = try PublicJWK(record)
        key.moments = [.createdAt: Vectors.time, .activatesAt: Vectors.time]
        (changes.keys, changes.secrets) = ([key], secrets.names)
        return try material.file(
            KeysetLog(creating: .random(), .recipient, at: Vectors.time, who: "faults", changes))
    }

    static func opens(_ file: [UInt8]) throws -> Bool {
        let material = try KeysetRows(file).unlocked(secret)
        return try material.records.keys.first?.description == Vectors.kid("x25519")
    }
}
