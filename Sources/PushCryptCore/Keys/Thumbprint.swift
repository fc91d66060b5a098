import PushCryptPrimitives

/// RFC 7638: SHA-256 over the required members of a JWK, in lexicographic order, without white space.
enum Thumbprint {
    /// 32 bytes.
    static func sha256(of material: KeyRecord.Material, backend: any CryptoBackend) throws -> [UInt8] {
        var json = [UInt8]()
        switch material {
        case .recipient(let publicKey, _, _) where publicKey.group == .p256:
            let point = publicKey.serialized
            json += #"{"crv":"P-256","kty":"EC","x":""#.utf8
            Base64URL.append(point.bytes.extracting(1..<33), to: &json)
            json += #"","y":""#.utf8
            Base64URL.append(point.bytes.extracting(33..<65), to: &json)
        case .recipient(let publicKey, _, _):
            json += #"{"crv":"X25519","kty":"OKP","x":""#.utf8
            Base64URL.append(publicKey.serialized.bytes, to: &json)
        case .sender(let publicKey, _):
            json += #"{"crv":"Ed25519","kty":"OKP","x":""#.utf8
            Base64URL.append(publicKey.serialized.bytes, to: &json)
        case .shared(let secret, _):
            json.reserveCapacity(64)
            json += #"{"k":""#.utf8
            Base64URL.append(secret.bytes, to: &json)
            json += #"","kty":"oct"#.utf8
        }
        json += #""}"#.utf8
        defer { wipe(&json) }
        return try backend.sha256(json.bytes)
    }
}

extension KeyRecord {
    /// The whole RFC 7638 thumbprint, 32 bytes, of which `kid` shows the first 8. Of a shared key it is a hash of the
    /// secret: not for printing.
    package func thumbprint() throws -> [UInt8] {
        try Thumbprint.sha256(of: material, backend: backend)
    }
}
