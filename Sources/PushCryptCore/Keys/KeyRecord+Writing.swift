import PushCryptPrimitives

/// Writing key records: the members of the table in `KeyRecord+JWK.swift`, in its order.
extension KeyRecord {
    /// Appends the JWK, with whatever secret parts the record has. Whoever holds `output` wipes it.
    package func appendJWK(to output: inout [UInt8]) throws {
        switch material {
        case .recipient(let publicKey, let privateKey, let psk):
            appendPublic(publicKey, to: &output)
            if let privateKey {
                append("d", try privateKey.serialized, to: &output)
            }
            append(alg: publicKey.group == .p256 ? "HPKE-7" : "HPKE-3", to: &output)
            if let psk {
                append("psk", psk, to: &output)
            }
        case .shared(let secret, let device):
            output += #"{"kty":"oct""#.utf8
            append("k", secret, to: &output)
            append(alg: "HKDF-A256GCM", to: &output)
            if let device {
                output += #","device":"\#(device)""#.utf8
            }
        case .sender(let publicKey, let privateKey):
            output += #"{"kty":"OKP","crv":"Ed25519""#.utf8
            append("x", publicKey.serialized.bytes, to: &output)
            if let privateKey {
                append("d", try privateKey.serialized, to: &output)
            }
            append(alg: "Ed25519", to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// Room for the longest record, so that no growing array leaves a copy of a secret behind.
    package static let maximumJWKByteCount = 512

    private func appendPublic(_ key: any DHPublicKey, to output: inout [UInt8]) {
        let bytes = key.serialized
        switch key.group {
        case .p256:
            output += #"{"kty":"EC","crv":"P-256""#.utf8
            append("x", bytes.bytes.extracting(1..<33), to: &output)
            append("y", bytes.bytes.extracting(33..<65), to: &output)
        case .x25519:
            output += #"{"kty":"OKP","crv":"X25519""#.utf8
            append("x", bytes.bytes, to: &output)
        }
    }

    private func append(_ name: StaticString, _ secret: SecretBytes, to output: inout [UInt8]) {
        append(name, secret.bytes, to: &output)
    }

    private func append(_ name: StaticString, _ value: Span<UInt8>, to output: inout [UInt8]) {
        output += #","\#(name)":""#.utf8
        Base64URL.append(value, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    private func append(alg: String, to output: inout [UInt8]) {
        output += #","alg":"\#(alg)","kid":"\#(kid)""#.utf8
    }
}
