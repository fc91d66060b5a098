package import PushCryptPrimitives

/// Reading key records (RFC 7517, RFC 7518 section 6, RFC 8037, RFC 9964).
///
/// | record    | members                                                                  |
/// | --------- | ------------------------------------------------------------------------ |
/// | suite 1   | kty "EC", crv "P-256", x, y, [d], alg "HPKE-7", kid, [psk]               |
/// | suite 2   | kty "OKP", crv "X25519", x, [d], alg "HPKE-3", kid, [psk]                |
/// | suite 3   | kty "AKP", pub, [priv], alg "pushcrypt-3", kid, [psk]                    |
/// | suite 4   | kty "oct", k, alg "HKDF-A256GCM", kid, [device]                          |
/// | sender    | kty "OKP", crv "Ed25519", x, [d], alg "Ed25519", kid                     |
/// | publisher | the members of a sender, role "publisher"                                |
///
/// Other members are ignored, as RFC 7517 section 4 requires. The role isn't part of the thumbprint, so the same key pair
/// has the same kid in both roles.
extension KeyRecord {
    /// - Parameter isForeign: whether another tool may have written the JWK, without `alg` or with its own name of the algorithm,
    ///   and without `kid` or with one of its own. Both are computed then.
    /// - Throws: `KeyError`.
    package init(_ jwk: JSONValue, isForeign: Bool = false, backend: any CryptoBackend) throws {
        guard let kty = jwk["kty"], kty.kind == .string else {
            throw KeyError(.malformed, "the JSON is not a JWK: it has no kty")
        }
        let named = jwk["kid"]?.utf8.flatMap(KeyID.init(utf8:))
        guard named != nil || isForeign && jwk["device"] == nil else {
            throw KeyError(.malformed, "kid is missing or not \(KeyID.characterCount) characters of base64url")
        }
        let reader = JWKReader(jwk: jwk, kid: named, isForeign: isForeign, backend: backend)
        let material = try reader.material(kty: kty)
        if case .shared(_, .some) = material, let named {
            self.init(kid: named, material: material, backend: backend)
            return
        }
        let computed = KeyID(thumbprint: try Self.thumbprint(of: material, backend: backend))
        if let named, named != computed {
            throw KeyError(.kidMismatch, "kid is \(named), but the key's thumbprint gives \(computed)")
        }
        self.init(kid: computed, material: material, backend: backend)
        if case .recipient(_, nil, _) = material, let set = jwk[DeviceSet.memberName] {
            guard let text = set.utf8 else {
                throw KeyError(.malformed, "key \(computed): its device set isn't a string")
            }
            deviceSet = try DeviceSet(text, of: self)
        }
    }

    /// Whether this is the key of one device. Its `kid` is that of its master, and can't be computed from the key.
    package var isDeviceKey: Bool {
        if case .shared(_, .some) = material { true } else { false }
    }
}

private struct JWKReader {
    let jwk: JSONValue
    let kid: KeyID?
    let isForeign: Bool
    let backend: any CryptoBackend

    /// The key in errors.
    private var name: String { kid.map { "key \($0)" } ?? "the key" }

    func material(kty: JSONValue) throws -> KeyRecord.Material {
        guard let type = KeyAlgorithm.allCases.first(where: { kty.isString($0.kty) && hasCurve($0.crv) }) else {
            throw KeyError(.unsupportedKey, "pushcrypt doesn't support keys with this kty and crv")
        }
        let algorithm = try type == .ed25519 && isPublisher() ? .publisher : type
        guard jwk["alg"]?.isString(algorithm.alg) == true || isForeign && hasForeignAlgorithm(for: algorithm) else {
            throw KeyError(.unsupportedKey, "\(name): alg must be \"\(algorithm.alg)\" for a key of this kind")
        }
        return switch algorithm {
        case .p256: try recipient(.p256, [4] + coordinate("x") + coordinate("y"))
        case .x25519: try recipientX25519()
        case .xWing: try recipientXWing()
        case .shared: try shared()
        case .publisher: try signing { .publisher(publicKey: $0, privateKey: $1) }
        default: try signing { .sender(publicKey: $0, privateKey: $1) }
        }
    }

    /// A key without a curve may have any `crv`, like any other member that it doesn't need.
    private func hasCurve(_ crv: String?) -> Bool { crv.map { jwk["crv"]?.isString($0) == true } ?? true }

    /// Whether the JWK has no `alg`, as Node and WebCrypto write it, or that of RFC 7518 section 4.6 or RFC 8037 for its key.
    private func hasForeignAlgorithm(for algorithm: KeyAlgorithm) -> Bool {
        guard let alg = jwk["alg"] else { return algorithm != .xWing }
        return switch algorithm {
        case .p256, .x25519: alg.string?.hasPrefix("ECDH-ES") == true
        case .shared: alg.isString("A256GCM")
        case .xWing: false
        default: alg.isString("EdDSA")
        }
    }

    /// A role that this version doesn't know must not make the key a sender's.
    private func isPublisher() throws -> Bool {
        guard let role = jwk["role"] else { return false }
        guard role.isString(KeyAlgorithm.publisherRole) else {
            throw KeyError(.unsupportedKey, "\(name): role must be \"\(KeyAlgorithm.publisherRole)\" or absent")
        }
        return true
    }

    private func recipientX25519() throws -> KeyRecord.Material {
        let x = try coordinate("x")
        try checkX25519(x, "x")
        return try recipient(.x25519, x)
    }

    /// pub is the public key of ML-KEM-768, 1,184 bytes, and that of X25519, 32 bytes. The backend checks the first one.
    private func recipientXWing() throws -> KeyRecord.Material {
        let pub = try publicBytes("pub", count: KeyPairType.xWing.publicKeyByteCount)
        try checkX25519(Array(pub.suffix(KeyPairType.x25519.publicKeyByteCount)), "the X25519 half of pub")
        return try recipient(.xWing, pub, privateMember: "priv")
    }

    private func checkX25519(_ u: [UInt8], _ name: String) throws {
        guard Field25519.isCanonical(u) else { throw invalid("\(name) is not below 2^255 - 19") }
        guard !X25519Points.hasSmallOrder(u) else { throw invalid("\(name) is a point of small order") }
    }

    private func recipient(
        _ type: KeyPairType, _ serialized: [UInt8], privateMember: String = "d"
    ) throws -> KeyRecord.Material {
        try refuse("device")
        try refuse(privateMember == "d" ? "priv" : "d")
        let publicKey = try reportingInvalidKey { try backend.publicKey(type, serialized.bytes) }
        let privateKey = try secret(privateMember).map { secret in
            let key = try reportingInvalidKey { try backend.privateKey(type, secret.bytes) }
            guard key.publicKey.serialized == serialized else {
                throw invalid("\(privateMember) is not the private key of this public key")
            }
            return key
        }
        return .recipient(publicKey: publicKey, privateKey: privateKey, psk: try secret("psk"))
    }

    private func signing(
        _ material: (any VerificationKey, (any SigningKey)?) -> KeyRecord.Material
    ) throws -> KeyRecord.Material {
        for member in ["psk", "device", "priv"] { try refuse(member) }
        let x = try coordinate("x")
        guard !Ed25519Points.hasSmallOrder(x), Field25519.isCanonical(Ed25519Points.withoutSign(x)) else {
            throw invalid("x is a point of small order or not canonical")
        }
        let publicKey = try reportingInvalidKey { try backend.verificationKey(x.bytes) }
        let privateKey = try secret("d").map { d in
            let key = try reportingInvalidKey { try backend.signingKey(d.bytes) }
            guard key.publicKey.serialized == x else { throw invalid("d is not the private key of this public key") }
            return key
        }
        return material(publicKey, privateKey)
    }

    private func shared() throws -> KeyRecord.Material {
        for member in ["psk", "d", "priv"] { try refuse(member) }
        guard let k = try secret("k") else { throw KeyError(.malformed, "\(name): k is missing") }
        guard let device = jwk["device"] else { return .shared(k, device: nil) }
        guard let id = device.string else { throw KeyError(.malformed, "\(name): device is not a string") }
        return .shared(k, device: try DeviceID(id))
    }

    private func refuse(_ member: String) throws {
        guard jwk[member] == nil else { throw KeyError(.malformed, "\(name): a key of this kind has no \(member)") }
    }

    private func coordinate(_ member: String) throws -> [UInt8] { try publicBytes(member, count: 32) }

    private func publicBytes(_ member: String, count: Int) throws -> [UInt8] {
        guard let text = jwk[member]?.utf8 else { throw KeyError(.malformed, "\(name): \(member) is missing") }
        guard let bytes = Base64URL.decode(text), bytes.count == count else { throw malformed(member, text, count) }
        return bytes
    }

    /// A secret of a record, 32 bytes; nil if there is no such member.
    private func secret(_ member: String) throws -> SecretBytes? {
        guard let value = jwk[member] else { return nil }
        let (text, count) = (value.utf8 ?? [], KeyRecord.secretByteCount)
        guard let secret = Base64URL.decodeSecret(text), secret.count == count else {
            throw malformed(member, text, count)
        }
        return secret
    }

    private func malformed(_ member: String, _ text: ArraySlice<UInt8>, _ count: Int) -> KeyError {
        let isStandard = text.contains { $0.isOne(of: "+/=") } && Base64.decode(text.bytes, .any)?.count == count
        return KeyError(
            .malformed,
            "\(name): \(member) is not \(count) bytes of base64url"
                + (isStandard ? " but standard or padded base64: write - for +, _ for /, and no =" : ""))
    }

    private func invalid(_ reason: String) -> KeyError { KeyError(.invalidKey, "\(name): \(reason)") }

    private func reportingInvalidKey<Key>(_ body: () throws -> Key) throws -> Key {
        do {
            return try body()
        } catch let error as CryptoError {
            switch error.code {
            case .backendFailure: throw KeyError(.backendFailure, "\(name): \(error.reason)")
            case .unsupportedAlgorithm: throw KeyError(.unsupportedSuite, "\(name): \(error.reason)")
            default: throw invalid(error.reason)
            }
        }
    }
}

/// Writing key records: the members of the table above, in its order.
extension KeyRecord {
    /// Appends the JWK with its secret members. The caller wipes `output`.
    package func appendJWK(to output: inout [UInt8]) throws {
        output += #"{"kty":"\#(algorithm.kty)""#.utf8
        if let crv = algorithm.crv { output += #","crv":"\#(crv)""#.utf8 }
        for (name, value) in material.publicMembers { output.append(name, value.bytes) }
        switch material {
        case .recipient(let publicKey, let privateKey?, _):
            output.append(publicKey.type == .xWing ? "priv" : "d", try privateKey.serialized)
        case .sender(_, let privateKey?), .publisher(_, let privateKey?):
            output.append("d", try privateKey.serialized)
        case .shared(let secret, _): output.append("k", secret)
        default: break
        }
        output += #","alg":"\#(algorithm.alg)","kid":"\#(kid)""#.utf8
        switch material {
        case .recipient(_, _, let psk?): output.append("psk", psk)
        case .shared(_, let device?): output += #","device":"\#(device)""#.utf8
        case .publisher: output += #","role":"\#(KeyAlgorithm.publisherRole)""#.utf8
        default: break
        }
        output.append(UInt8(ascii: "}"))
    }

    /// The capacity for the longest record: an array that grows would leave a copy of a secret in memory.
    package static let maximumJWKByteCount = 2_048
}

extension KeyRecord.Material {
    /// The public members of the JWK: x and, for P-256, y, 32 bytes each, or pub of X-Wing; none for a shared secret.
    fileprivate var publicMembers: [(name: StaticString, ArraySlice<UInt8>)] {
        switch self {
        case .recipient(let publicKey, _, _):
            let serialized = publicKey.serialized
            switch publicKey.type {
            case .p256: return [("x", serialized[1..<33]), ("y", serialized[33..<65])]
            case .x25519: return [("x", serialized[...])]
            case .xWing: return [("pub", serialized[...])]
            }
        case .sender(let publicKey, _), .publisher(let publicKey, _): return [("x", publicKey.serialized[...])]
        case .shared: return []
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ name: StaticString, _ secret: SecretBytes) { append(name, secret.bytes) }

    fileprivate mutating func append(_ name: StaticString, _ value: Span<UInt8>) {
        self += #","\#(name)":""#.utf8
        Base64URL.append(value, to: &self)
        append(UInt8(ascii: "\""))
    }
}

/// RFC 7638: SHA-256 over the required members of a JWK, in lexicographic order, without white space.
///
/// ```
/// {"crv":"P-256","kty":"EC","x":"...","y":"..."}       {"crv":"X25519","kty":"OKP","x":"..."}      the same for Ed25519
/// {"k":"...","kty":"oct"}                              {"alg":"pushcrypt-3","kty":"AKP","pub":"..."}
/// ```
extension KeyRecord {
    /// The thumbprint, 32 bytes. The first 8 bytes are `kid`. Don't print that of a shared key: it is a hash of the secret.
    package func thumbprint() throws -> [UInt8] { try Self.thumbprint(of: material, backend: backend) }

    static func thumbprint(of material: Material, backend: any CryptoBackend) throws -> [UInt8] {
        guard case .shared(let secret, _) = material else {
            return try thumbprint(material.algorithm, material.publicMembers, backend: backend)
        }
        var json = [UInt8]()
        json.reserveCapacity(128)
        defer { wipe(&json) }
        json += #"{"k":""#.utf8
        Base64URL.append(secret.bytes, to: &json)
        json += #"","kty":"\#(material.algorithm.kty)"}"#.utf8
        return try backend.sha256(json.bytes)
    }

    /// The thumbprint of a key pair.
    ///
    /// - Parameter members: the public members of the JWK in alphabetical order.
    static func thumbprint(
        _ algorithm: KeyAlgorithm, _ members: [(name: StaticString, ArraySlice<UInt8>)], backend: any CryptoBackend
    ) throws -> [UInt8] {
        var json = Array((algorithm.crv.map { #"{"crv":"\#($0)""# } ?? #"{"alg":"\#(algorithm.alg)""#).utf8)
        json += #","kty":"\#(algorithm.kty)""#.utf8
        for (name, value) in members { json.append(name, value.bytes) }
        json.append(UInt8(ascii: "}"))
        return try backend.sha256(json.bytes)
    }
}
