import CPushCryptOpenSSL
import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

extension ContainedKey {
    /// A private key that is the same in every run.
    static func sample(_ algorithm: Algorithm, seed: UInt64 = 1) throws -> ContainedKey {
        let bytes = sampleBytes(seed: seed)
        return try ContainedKey(algorithm, privateKey: SecretBytes(copying: bytes.bytes))
    }

    /// 32 bytes that are below the order of P-256.
    static func sampleBytes(seed: UInt64 = 1) -> [UInt8] {
        var generator = SplitMix64(seed: seed)
        return [0x7f] + generator.bytes(31)
    }

    var publicHalf: ContainedKey {
        get throws { try ContainedKey(algorithm, publicKey: publicKey) }
    }

    func written(as form: KeyContainer.Form, _ encoding: KeyContainer.Encoding) throws -> [UInt8] {
        ERR_clear_error()
        defer { #expect(ERR_peek_error() == 0) }
        return try KeyContainer.write(self, as: form, encoding: encoding).revealed
    }

    func isSame(as other: ContainedKey) -> Bool {
        algorithm == other.algorithm && publicKey == other.publicKey && privateKey == other.privateKey
    }
}

extension KeyContainer {
    static func read(_ bytes: [UInt8], passphrase: String? = nil) throws -> ContainedKey {
        try read(bytes.bytes, passphrase: passphrase.map(SecretBytes.init(text:)))
    }

    static func read(_ text: String, passphrase: String? = nil) throws -> ContainedKey {
        try read(Array(text.utf8), passphrase: passphrase)
    }

    /// The code with which a container is refused; nil if it is read. Throws other errors, because no input may cause a
    /// `CryptoError`.
    static func refusal(_ bytes: [UInt8], passphrase: String? = nil) throws -> KeyContainerError.Code? {
        ERR_clear_error()
        defer { #expect(ERR_peek_error() == 0) }
        do {
            _ = try read(bytes, passphrase: passphrase)
            return nil
        } catch let error as KeyContainerError {
            return error.code
        }
    }

    static func refusal(_ text: String, passphrase: String? = nil) throws -> KeyContainerError.Code? {
        try refusal(Array(text.utf8), passphrase: passphrase)
    }
}

extension SecretBytes {
    convenience init(text: String) { self.init(copying: Array(text.utf8).bytes) }
}

/// Conformance/vectors/key-containers.json: containers that the openssl tool wrote, for machines that lack the tool.
struct ForeignContainers: Decodable {
    let passphrase: String
    let keys: [ForeignKey]
    let refused: [RefusedContainer]

    static let shared = Result { try Vectors.loadOwn("key-containers.json", as: ForeignContainers.self) }
}

struct ForeignKey: Decodable, Sendable, CustomStringConvertible {
    let name: String
    let algorithm: String
    let isEncrypted: Bool
    let publicKey: HexBytes
    let privateKey: HexBytes?
    let pem: String

    var description: String { name }
}

struct RefusedContainer: Decodable, Sendable, CustomStringConvertible {
    let name: String
    let code: String
    let pem: String

    var description: String { name }
    var expectedCode: KeyContainerError.Code { KeyContainerError.Code(name: code) }
}

/// The data of the last PEM block in `text`, decoded by Foundation.
func derOfPEM(_ text: String) throws -> [UInt8] {
    let lines = text.split(separator: "\n")
    guard let begin = lines.lastIndex(where: { $0.hasPrefix("-----BEGIN ") }), let end = lines.indices.last else {
        throw CocoaError(.coderReadCorrupt)
    }
    guard let data = Data(base64Encoded: lines[(begin + 1)..<end].joined()) else {
        throw CocoaError(.coderReadCorrupt)
    }
    return Array(data)
}

/// An independent DER encoder for containers that the library never writes. Contents are shorter than 256 bytes.
enum DER {
    static func element(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        let content = contents.flatMap(\.self)
        return [tag] + (content.count < 0x80 ? [] : [0x81]) + [UInt8(content.count)] + content
    }

    static func sequence(_ contents: [UInt8]...) -> [UInt8] { element(0x30, contents.flatMap(\.self)) }
    static func octets(_ content: [UInt8]) -> [UInt8] { element(0x04, content) }
    static func bits(_ content: [UInt8], tag: UInt8 = 0x03) -> [UInt8] { element(tag, [0], content) }
    static func integer(_ content: UInt8...) -> [UInt8] { element(0x02, content) }

    static let p256 = element(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07])
    static let p384 = element(0x06, [0x2b, 0x81, 0x04, 0x00, 0x22])
    static let ecPublicKey = element(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01])
    static let x25519 = element(0x06, [0x2b, 0x65, 0x6e])
    static let ed25519 = element(0x06, [0x2b, 0x65, 0x70])

    /// The AlgorithmIdentifiers of the three key types.
    static let p256Key = sequence(ecPublicKey, p256)
    static let x25519Key = sequence(x25519)
    static let ed25519Key = sequence(ed25519)
}
