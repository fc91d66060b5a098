import Foundation
import PushCryptKeystore
import PushCryptTestSupport

/// Tests/Vectors/key-containers.json: containers that the openssl tool wrote, for machines that lack the tool.
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
    var expectedCode: KeyContainerError.Code? { Self.codes[code] }

    private static let codes: [String: KeyContainerError.Code] = [
        "notAKeyContainer": .notAKeyContainer, "malformed": .malformed, "unsupportedKey": .unsupportedKey,
        "unsupportedEncryption": .unsupportedEncryption,
    ]
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
