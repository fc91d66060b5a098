import CPushCryptOpenSSL
import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptKeysets
import PushCryptKeystore
import PushCryptOpenSSL
import PushCryptPrimitives
import PushCryptSender

/// Every operation of the library that calls OpenSSL, with the keys of Conformance/vectors.
enum Operations {
    static var all: [Operation] {
        generating + readingRecords + readingContainers + writingContainers + messages + signatures + senderSets + blobs
            + keysets + changes
    }
    private static let backend = OpenSSLBackend()
    /// OpenSSL has X-Wing's algorithms from 3.5 on. Asking for them would allocate memory before the first fault.
    private static let types = OpenSSL_version_num() < 0x3050_0000 ? KeyPairType.groups : KeyPairType.allCases
    private static let names = types.map(vectorName).flatMap { [$0, "\($0) psk"] } + shared
    /// Their messages need no memory of OpenSSL, except for a signature.
    private static let shared = ["shared", "device"]

    private static var generating: [Operation] {
        types.map { type in
            Operation("generate \(type)", needs: [.memory, .randomness]) {
                let key = try backend.generateKeyPair(type)
                let serialized = try key.serialized
                return try backend.privateKey(type, serialized.bytes).publicKey.serialized == key.publicKey.serialized
            }
        } + [
            Operation("generate Ed25519", needs: [.memory, .randomness]) {
                try backend.generateSigningKey().publicKey.serialized.count == 32
            },
            Operation("generate a shared key", needs: [.randomness]) {
                try backend.randomSecret(count: 32).count == 32
            },
            Operation("random bytes", needs: [.randomness]) {
                try backend.randomBytes(count: 16) != [UInt8](repeating: 0, count: 16)
            },
        ]
    }

    private static var readingRecords: [Operation] {
        names.map { name in
            Operation("read the JWK \(name)", needs: shared.contains(name) ? [] : [.memory]) {
                let jwk = try Vectors.jwk(name)
                return { try "\(Keyset(json: jwk).keyIDs[0])" == Vectors.kid(name) }
            }
        } + [
            Operation("read the JWK sender") {
                let jwk = try Vectors.jwk("sender")
                return { try "\(SenderKey(jwk: jwk).kid)" == Vectors.kid("sender") }
            },
            Operation("decompress a point") {
                let point = try Vectors.entry("p256").record.serializedPublicKey
                let compressed = [2 + (point[64] & 1)] + point[1..<33]
                return { try backend.uncompressedP256Point(compressed.bytes) == point }
            },
            Operation("refuse a point off the curve") {
                let point = [4] + [UInt8](repeating: 1, count: 64)
                return { try refusal(.invalidPublicKey) { try backend.publicKey(.p256, point.bytes) } }
            },
            Operation("refuse a scalar of zero") {
                let zero = [UInt8](repeating: 0, count: 32)
                return { try refusal(.invalidPrivateKey) { try backend.privateKey(.p256, zero.bytes) } }
            },
            Operation("refuse a point of small order") {
                let key = try backend.privateKey(.x25519, [UInt8](repeating: 7, count: 32).bytes)
                let point = try backend.publicKey(.x25519, [UInt8](repeating: 0, count: 32).bytes)
                return { try refusal(.degenerateSharedSecret) { try key.sharedSecret(with: point) } }
            },
        ]
    }

    private static var readingContainers: [Operation] {
        [
            "p256 PKCS#8", "p256 PBKDF2 and AES-256-CBC", "x25519 PKCS#8", "x25519 scrypt", "ed25519 PKCS#8",
            "SEC 1 without public key", "SEC 1, compressed point",
        ].map { name in
            Operation("read \(name)", mayBlameInput: name.contains("AES") || name.contains("scrypt")) {
                let container = try Vectors.container(name)
                return {
                    let keyset = try ImportedKey.read(
                        container.pem, rawKind: nil, passphrase: container.passphrase)
                    return keyset.entries[0].record.serializedPublicKey == container.publicKey
                }
            }
        }
    }

    /// PBKDF2 with 600,000 iterations takes most of a second, so encryption is called with a scheme of a few.
    private static var writingContainers: [Operation] {
        [
            Operation("write PEM") {
                let record = try Vectors.entry("p256").record
                return {
                    let pem = try ExportedKey.privateKey(record, as: .pem, passphrase: nil)
                    return try ImportedKey.read(pem, rawKind: nil, passphrase: nil).keyIDs == [record.kid]
                }
            },
            Operation("encrypt with PBES2", mayBlameInput: true) {
                let passphrase = Vectors.secret("passphrase")
                let (scheme, plaintext) = (Vectors.cheapScheme, [UInt8](repeating: 5, count: 40))
                return {
                    let sealed = try backend.passwordBased(
                        .encrypt, plaintext.bytes, scheme: scheme.bytes, passphrase: passphrase)
                    let opened = try backend.passwordBased(
                        .decrypt, sealed.bytes, scheme: scheme.bytes, passphrase: passphrase)
                    return Array(opened.bytes) == plaintext
                }
            },
        ]
    }

    private static var messages: [Operation] {
        names.flatMap { name in
            [false, true].flatMap { isSigned in
                let title = "\(name)\(isSigned ? ", signed" : "")"
                let memory: Set<Operation.Need> = shared.contains(name) ? [] : [.memory]
                let needs = isSigned ? [.memory] : memory
                return [
                    Operation("seal \(title)", needs: needs.union([.randomness])) {
                        let channel = try Channel(name, isSigned: isSigned)
                        return { try channel.opens(channel.seal()) }
                    },
                    Operation("open \(title)", needs: needs) {
                        let channel = try Channel(name, isSigned: isSigned)
                        let push = try channel.seal()
                        return { try channel.opens(push) }
                    },
                    Operation("refuse a changed tag, \(title)", needs: memory) {
                        let channel = try Channel(name, isSigned: isSigned)
                        let push = try channel.sealWithChangedTag()
                        return { try channel.refuses(push) }
                    },
                ]
            }
        }
    }

    private static var signatures: [Operation] {
        [
            Operation("sign") {
                let key = try backend.signingKey([UInt8](repeating: 3, count: 32).bytes)
                let message: [UInt8] = [1, 2, 3]
                let expected = try key.signature(for: message.bytes)
                // RFC 8032: a signature depends on key and message only.
                return { try key.signature(for: message.bytes) == expected }
            },
            Operation("verify") {
                let key = try backend.signingKey([UInt8](repeating: 3, count: 32).bytes)
                let message: [UInt8] = [1, 2, 3]
                let signature = try key.signature(for: message.bytes)
                return {
                    guard try key.publicKey.isValid(signature.bytes, for: message.bytes) else {
                        throw FailureClass.undecryptable
                    }
                    return true
                }
            },
            Operation("refuse a signature") {
                let key = try backend.signingKey([UInt8](repeating: 3, count: 32).bytes)
                let message: [UInt8] = [1, 2, 3]
                let forged = [UInt8](repeating: 0, count: 64)
                return { try !key.publicKey.isValid(forged.bytes, for: message.bytes) }
            },
        ]
    }

    private static var senderSets: [Operation] {
        [
            Operation("sign a sender set") {
                let set = try SenderSet()
                let expected = try set.document()
                return { try set.document() == expected }
            },
            Operation("verify a signed sender set") {
                let set = try SenderSet()
                let document = try set.document()
                return { try set.isAccepted(document) }
            },
            Operation("refuse a sender set with another payload") {
                let set = try SenderSet()
                var document = try set.document()
                document["{\"payload\":\"".utf8.count] ^= 1
                return {
                    do {
                        return try !set.isAccepted(document)
                    } catch let error as KeyError where error.code == .notSigned {
                        return true
                    }
                }
            },
        ]
    }

    private static var blobs: [Operation] {
        [
            Operation("seal and open a blob", needs: [.randomness]) {
                let plaintext = [UInt8](repeating: 9, count: 70_000)
                return {
                    let blob = try SealedBlob(plaintext, for: .attachment)
                    return try BlobOpener.plaintext(of: blob.bytes, blob.reference) == plaintext
                }
            }
        ]
    }

    private static var keysets: [Operation] {
        [
            Operation("scrypt") {
                // The first vector of RFC 7914 section 12.
                let empty = [UInt8]()
                let parameters = try ScryptParameters(n: 16, r: 1, p: 1)
                return {
                    let key = try backend.scrypt(
                        passphrase: empty.bytes, salt: empty.bytes, parameters: parameters, count: 64)
                    return Array(key.bytes.extracting(first: 4)) == [0x77, 0xd6, 0x57, 0x62]
                }
            },
            Operation("encrypt a keyset", needs: [.memory, .randomness]) {
                { try EncryptedKeyset.opens(EncryptedKeyset.file()) }
            },
            Operation("unlock a keyset") {
                let file = try EncryptedKeyset.file()
                return { try EncryptedKeyset.opens(file) }
            },
        ]
    }

    /// Changes of keysets on disk.
    private static var changes: [Operation] {
        types.flatMap { type in
            // A keyset of X-Wing keys never goes back.
            let other = type == .p256 ? KeyPairType.x25519 : .p256
            return [
                Operation("create a keyset of \(type)", needs: [.memory, .randomness]) {
                    let keyset = try ChangedKeyset(nil)
                    return { try keyset.create(type) }
                },
                Operation("import a key of \(type) into a keyset") {
                    let (keyset, jwk) = (try ChangedKeyset(type), try Vectors.jwk(vectorName(type)))
                    return { try keyset.importKey(jwk, [type, type]) }
                },
                Operation("rotate a keyset of \(type)", needs: [.memory, .randomness]) {
                    let keyset = try ChangedKeyset(type)
                    return { try keyset.rotate([type, type]) }
                },
                Operation("change a keyset over to \(type)", needs: [.memory, .randomness]) {
                    let keyset = try ChangedKeyset(other)
                    return { try keyset.add(type, [other, type]) }
                },
            ]
        }
    }

    private static func vectorName(_ type: KeyPairType) -> String { KeyAlgorithm(type).rawValue }

    /// Whether `body` throws a `CryptoError` with this code. Rethrows other errors.
    private static func refusal<Result>(_ code: CryptoError.Code, _ body: () throws -> Result) throws -> Bool {
        do {
            _ = try body()
            return false
        } catch let error as CryptoError where error.code == code {
            return true
        }
    }
}
