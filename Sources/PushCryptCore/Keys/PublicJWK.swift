package import PushCryptPrimitives

/// The public half of a key as a keyset's log has it. Its members are checked, and its point isn't: so a host whose cryptographic
/// library lacks the suite can read the log.
///
/// ```
/// {"kty", ["crv"], x and y | x | pub, "alg", "kid", ["role"]}        the members of key records, and no others
/// ```
package struct PublicJWK: Hashable, Sendable {
    package let algorithm: KeyAlgorithm
    package let kid: KeyID
    /// RFC 7638, 32 bytes.
    package let thumbprint: [UInt8]
    /// The JWK's text, without white space if it was written here.
    package let json: [UInt8]

    /// - Throws: `KeyError` with `malformed` for a member that is missing, unknown or of another length, `kidMismatch`.
    package init(_ jwk: JSONValue, backend: any CryptoBackend) throws {
        guard let algorithm = Self.algorithm(of: jwk) else {
            throw KeyError(.malformed, "kty, crv, alg and role are those of no public key")
        }
        let expected = algorithm.publicMemberLengths
        let members = try expected.map { name, count in
            guard let bytes = jwk[name.description]?.utf8.flatMap(Base64URL.decode), bytes.count == count else {
                throw KeyError(.malformed, "\(name) is not \(count) bytes of base64url")
            }
            return (name, bytes[...])
        }
        // crv and role, where the algorithm has none, were refused with it.
        let names = ["kty", "crv", "alg", "role", "kid"] + expected.map(\.name.description)
        guard jwk.members.allSatisfy({ member in names.contains { member.hasName($0) } }) else {
            throw KeyError(.malformed, "it has members that a public key doesn't have")
        }
        guard let kid = jwk["kid"]?.utf8.flatMap(KeyID.init(utf8:)) else {
            throw KeyError(.malformed, "kid is missing or not \(KeyID.characterCount) characters of base64url")
        }
        thumbprint = try KeyRecord.thumbprint(algorithm, members, backend: backend)
        guard kid == KeyID(thumbprint: thumbprint) else {
            throw KeyError(.kidMismatch, "kid is \(kid), but the thumbprint gives \(KeyID(thumbprint: thumbprint))")
        }
        self.algorithm = algorithm
        self.kid = kid
        json = Array(jwk.rawBytes)
    }

    /// The public half of a key pair; nil for a shared key.
    package init?(_ record: KeyRecord) throws {
        guard record.kind != .shared else { return nil }
        algorithm = record.algorithm
        kid = record.kid
        thumbprint = try record.thumbprint()
        var json = [UInt8]()
        try record.publicRecord(keepingPSK: false).appendJWK(to: &json)
        self.json = json
    }

    private static func algorithm(of jwk: JSONValue) -> KeyAlgorithm? {
        KeyAlgorithm.allCases.first { algorithm in
            func has(_ name: String, _ value: String?) -> Bool {
                value.map { jwk[name]?.isString($0) == true } ?? (jwk[name] == nil)
            }
            return algorithm != .shared && has("kty", algorithm.kty) && has("crv", algorithm.crv)
                && has("alg", algorithm.alg)
                && has("role", algorithm == .publisher ? KeyAlgorithm.publisherRole : nil)
        }
    }
}

extension KeyAlgorithm {
    /// The public members of a JWK with their lengths in bytes, in the order in which they are written.
    fileprivate var publicMemberLengths: [(name: StaticString, count: Int)] {
        switch self {
        case .p256: [("x", 32), ("y", 32)]
        case .xWing: [("pub", KeyPairType.xWing.publicKeyByteCount)]
        case .shared: []
        default: [("x", 32)]
        }
    }
}
