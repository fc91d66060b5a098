import PushCryptPrimitives

/// RFC 9180 section 4, "Cryptographic Dependencies": the KEM.
///
/// The DHKEMs are in section 4.1. X-Wing's Encap() and Decap() are the backend's (draft-ietf-hpke-pq section 4); it has neither
/// AuthEncap() nor AuthDecap().
extension HPKE {
    /// Nsecret of all KEMs.
    static let sharedSecretByteCount = 32

    /// Encap() or, with a sender key, AuthEncap().
    /// - Parameters:
    ///   - ephemeral: skE, which only tests of published vectors pass; nil makes a new one.
    ///   - sharedSecret: 32 bytes.
    ///   - output: `enc` is appended; it is unchanged if this throws.
    func encap(
        to recipient: any EncapsulationKey, senderKey: (any DecapsulationKey)?,
        ephemeral: (any DecapsulationKey)? = nil,
        into sharedSecret: inout MutableSpan<UInt8>, appendingEncTo output: inout [UInt8]
    ) throws {
        let start = output.count
        do {
            try validated {
                switch kem {
                case .dhkemP256, .dhkemX25519:
                    try dhkemEncap(
                        to: recipient, senderKey: senderKey, ephemeral: ephemeral, into: &sharedSecret,
                        appendingEncTo: &output)
                case .xWing:
                    guard senderKey == nil, ephemeral == nil else { throw HPKEError(.unsupported) }
                    try backend.encapsulate(to: recipient, into: &sharedSecret, appendingTo: &output)
                }
            }
        } catch {
            output.removeLast(output.count - start)
            throw error
        }
    }

    /// Decap() or, with the sender's public key, AuthDecap().
    /// - Parameter sharedSecret: 32 bytes.
    func decap(
        _ enc: Span<UInt8>, with recipientKey: any DecapsulationKey, senderKey: (any EncapsulationKey)?,
        into sharedSecret: inout MutableSpan<UInt8>
    ) throws {
        try validated {
            guard recipientKey.publicKey.type == kem.keyPairType else { throw HPKEError(.validation) }
            switch kem {
            case .dhkemP256, .dhkemX25519:
                try dhkemDecap(enc, with: recipientKey, senderKey: senderKey, into: &sharedSecret)
            case .xWing:
                guard senderKey == nil else { throw HPKEError(.unsupported) }
                try backend.decapsulate(enc, with: recipientKey, into: &sharedSecret)
            }
        }
    }

    /// Translates each error of the backend about a key to ValidationError.
    private func validated<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as CryptoError where error.code != .backendFailure {
            throw HPKEError(.validation)
        }
    }
}
