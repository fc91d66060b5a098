package import PushCryptPrimitives

/// The proof that a device has the private key of its registration record (PROTOCOL section 13).
///
/// ```
/// code = HMAC-SHA256(nonce, "pushcrypt/1 possession" || 0x00 || lp16(host) || lp16(RID) || SHA-256(record))
/// ```
package enum Possession {
    package static let nonceByteCount = 32
    package static let codeByteCount = HKDF.hashByteCount
    /// The longest text of a challenge or an answer, in bytes.
    package static let maximumByteCount = 4_096

    /// The code that answers a challenge, 32 bytes.
    ///
    /// - Parameters:
    ///   - nonce: the challenge's plaintext, 32 bytes.
    ///   - recordDigest: SHA-256 of the registration record as uploaded.
    package static func code(
        nonce: Span<UInt8>, host: HostName, registrationID: RegistrationID, recordDigest: [UInt8],
        backend: any CryptoBackend
    ) -> SecretBytes {
        withTemporaryBytes(capacity: 22 + 1 + 2 + 253 + 2 + 64 + 32) { input in
            input.append("pushcrypt/1 possession")
            input.append(0)
            input.append(lengthPrefixed: host.description)
            input.append(lengthPrefixed: registrationID.description)
            for byte in recordDigest { input.append(byte) }
            return backend.hmacSHA256(of: input.bytes, key: nonce)
        }
    }
}

/// The id of one challenge: 1 to 64 characters of `[A-Za-z0-9_-]`.
package struct RegistrationID: Hashable, Sendable, CustomStringConvertible {
    private let text: String

    /// - Returns: nil for another form.
    package init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ $0.isAlphanumeric || $0.isOne(of: "_-") })
        else { return nil }
        self.text = text
    }

    /// 16 random bytes as 22 characters.
    package static func random(_ backend: any CryptoBackend) throws -> RegistrationID {
        RegistrationID(unchecked: Base64URL.encode(try backend.randomBytes(count: 16)))
    }

    private init(unchecked text: String) { self.text = text }

    package var description: String { text }
}

/// The host that an app registers with: 1 to 253 characters of `[a-z0-9.-]`, without port. Both sides know it from their
/// configuration, and it isn't sent.
package struct HostName: Hashable, Sendable, CustomStringConvertible {
    private let text: String

    /// - Throws: `KeyError` with `invalidHost`.
    package init(_ text: String) throws(KeyError) {
        guard (1...253).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isLowercaseOrDigit || $0.isOne(of: ".-") })
        else { throw KeyError(.invalidHost, "a host has 1 to 253 characters of a-z 0-9 . - and no port") }
        self.text = text
    }

    package var description: String { text }
}
