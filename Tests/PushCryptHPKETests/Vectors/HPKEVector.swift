import PushCryptTestSupport

@testable import PushCryptHPKE

/// One vector in the form of draft-irtf-cfrg-hpke's test-vectors.json.
struct HPKEVector: Decodable, Sendable {
    struct Encryption: Decodable, Sendable {
        /// Absent where the position in the list is the sequence number.
        let seq: UInt64?
        let pt, aad, nonce, ct: HexBytes
    }

    struct Export: Decodable, Sendable {
        enum CodingKeys: String, CodingKey {
            case exporterContext = "exporter_context"
            case count = "L"
            case value = "exported_value"
        }

        let exporterContext: HexBytes
        let count: Int
        let value: HexBytes
    }

    enum CodingKeys: String, CodingKey {
        case section, mode, info, ikmR, ikmE, ikmS, skRm, skEm, skSm, pkRm, pkEm, pkSm, psk, enc, key
        case kemID = "kem_id"
        case kdfID = "kdf_id"
        case aeadID = "aead_id"
        case pskID = "psk_id"
        case sharedSecret = "shared_secret"
        case baseNonce = "base_nonce"
        case exporterSecret = "exporter_secret"
        case encryptions, exports
    }

    /// The section of RFC 9180; only in the project's own file.
    let section: String?
    let mode: UInt8
    let kemID, kdfID, aeadID: UInt16
    let info, ikmR, ikmE, skRm, skEm, pkRm, pkEm, enc, sharedSecret, key, baseNonce, exporterSecret: HexBytes
    let ikmS, skSm, pkSm, psk, pskID: HexBytes?
    let encryptions: [Encryption]
    let exports: [Export]

    /// The encryptions with their sequence numbers.
    var numberedEncryptions: [(sequence: UInt64, Encryption)] {
        encryptions.enumerated().map { index, encryption in (encryption.seq ?? UInt64(index), encryption) }
    }
}

extension HPKEVector: CustomStringConvertible {
    var description: String {
        let names = ["\(Mode(rawValue: mode)!)", "\(KEM(rawValue: kemID)!)", "\(AEAD(rawValue: aeadID)!)"]
        let place = section ?? encryptions.first?.seq.map { "from \($0)" }
        return ([place] + names).compactMap(\.self).joined(separator: " ")
    }
}

extension HPKEVector {
    static let publishedFiles = ["trimmed", "seq255-256", "exportonly"]

    static func published(_ name: String) throws -> [HPKEVector] {
        try Vectors.load("hpke/test-vectors-\(name).json", as: [HPKEVector].self)
    }

    static func allPublished() throws -> [HPKEVector] {
        try publishedFiles.flatMap(published)
    }

    static func appendixA() throws -> [HPKEVector] {
        try Vectors.loadOwn("rfc9180-appendix-a.json", as: [HPKEVector].self)
    }
}
