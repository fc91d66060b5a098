package import PushCryptPrimitives

/// A published set of sender keys that a pinned publisher has signed.
///
/// The document is a JWS (``GeneralJWS``). Its payload is the JWK set of ``Keyset`` with the members of
/// ``SenderSetPublication``. A thief of a sender's key can't make such a document, because a publisher's key is never a
/// sender's.
package struct SignedSenderSet: Sendable {
    /// The keys, whose states are evaluated no earlier than the set's `issuedAt`.
    package let keyset: Keyset
    package let publication: SenderSetPublication
    /// SHA-256 of the payload, 32 bytes.
    package let digest: [UInt8]
    /// The pinned publisher whose signature was verified first.
    package let signedBy: KeyID
    /// The RFC 7638 thumbprints, 32 bytes each, of the keys with a `revokedAt`, even one in the future.
    package let revoked: Set<[UInt8]>

    /// The limit of a document, in bytes: 256 KiB.
    package static let maximumByteCount = 256 << 10
    package static let maximumSignatureCount = 8
    package static let maximumKeyCount = 64

    /// Verifies a document and reads the bytes that were verified.
    ///
    /// - Parameter publishers: the public keys of the pinned publishers. One of them must have signed the document.
    /// - Throws: `KeyError` with `notSigned`, `malformed`, `tooLarge`; `wrongKind` for private keys, keys that aren't
    ///   senders', or a sender key that is one of the publishers; the codes of a set that can't be read.
    package static func verify(
        _ document: [UInt8], publishers: [KeyRecord], backend: any CryptoBackend = DefaultBackend.shared
    ) throws -> SignedSenderSet {
        let jws = try GeneralJWS(document)
        guard let signer = try jws.signer(among: publishers) else {
            let names = publishers.map(\.kid.description).joined(separator: ", ")
            throw KeyError(
                .notSigned,
                "none of the publishers \(names) has signed the set of sender keys: fetch it again, or sign it")
        }
        return try SignedSenderSet(payload: jws.payload, signedBy: signer, publishers: publishers, backend: backend)
    }

    /// The publishers that a document names as its signers. No signature is verified: to compare sets, and never to trust one.
    ///
    /// - Throws: `KeyError` with `malformed`, `tooLarge`.
    package static func namedSigners(of document: [UInt8]) throws(KeyError) -> Set<KeyID> {
        try GeneralJWS(document).namedSigners
    }

    /// The payload of a document of which no signature is verified: to compare sets, and never to trust one. nil for another
    /// form.
    package static func unverifiedPayload(of document: [UInt8]) -> [UInt8]? { try? GeneralJWS(document).payload }

    /// Whether one of these publishers has signed a document, whatever its payload is.
    package static func isSigned(_ document: [UInt8], byOneOf publishers: [KeyRecord]) throws(KeyError) -> Bool {
        try GeneralJWS(document).signer(among: publishers) != nil
    }

    /// Signs a payload that was made of a keyset's log.
    ///
    /// - Returns: the document, which ``verify(_:publishers:backend:)`` accepts.
    /// - Throws: as ``sign(_:_:by:backend:)``.
    package static func sign(payload: [UInt8], by publishers: [KeyRecord]) throws -> [UInt8] {
        let document = try GeneralJWS.sign(payload, by: publishers)
        _ = try verify(document, publishers: publishers)
        return document
    }

    private init(payload: [UInt8], signedBy: KeyID, publishers: [KeyRecord], backend: any CryptoBackend) throws {
        let root: JSONValue
        do { root = try JSONText(payload).root } catch {
            throw KeyError(.malformed, "the payload of the signed set is not a JSON text: \(error)")
        }
        guard let keys = root["keys"], keys.kind == .array, let member = root["pushcrypt"] else {
            throw KeyError(.malformed, "the payload of the signed set is not a JWK set with a pushcrypt member")
        }
        let count = keys.elements.count
        guard count <= Self.maximumKeyCount else {
            throw KeyError(
                .tooLarge, "the signed set has \(count) keys; at most \(Self.maximumKeyCount) are allowed")
        }
        let publication = try SenderSetPublication(member)
        var keyset = try Keyset(root, backend: backend)
        try keyset.requirePublishable(without: publishers.map(\.kid))
        keyset.updatedAt = publication.issuedAt
        self.keyset = keyset
        self.publication = publication
        self.signedBy = signedBy
        digest = try backend.sha256(payload.bytes)
        revoked = try keyset.revokedThumbprints()
    }

    /// Signs a set of public sender keys. The same keys, publication and publishers give the same bytes.
    ///
    /// - Parameters:
    ///   - keyset: public sender keys, 1 to 64. Its `seq` is replaced by the publication's.
    ///   - publishers: private keys of publishers, 1 to 8.
    /// - Returns: the document, at most 256 KiB, which ``verify(_:publishers:backend:)`` accepts.
    /// - Throws: `KeyError` with `wrongKind` for private keys in the set, keys of another kind, or a key that is sender and
    ///   publisher; `notSigned` without publishers; `tooLarge`.
    package static func sign(
        _ keyset: Keyset, _ publication: SenderSetPublication, by publishers: [KeyRecord],
        backend: any CryptoBackend = DefaultBackend.shared
    ) throws -> [UInt8] {
        // Before the keys are written: a private key must not get into the document.
        try keyset.requirePublishable(without: publishers.map(\.kid))
        let sorted = try Keyset(
            keyset.entries.sorted { $0.record.kid < $1.record.kid }, sequence: publication.sequence)
        let payload = try sorted.jwkSet(withHistory: false, publication: publication)
        let document = try GeneralJWS.sign(payload, by: publishers)
        _ = try verify(document, publishers: publishers, backend: backend)
        return document
    }
}

extension Keyset {
    /// Checks that the set may be signed and accepted: it has public sender keys only, and none of them is a publisher. A
    /// thief of such a sender key could sign sets.
    ///
    /// - Parameter publishers: the ids of all keys that apps may pin, even destroyed ones.
    /// - Throws: `KeyError` with `wrongKind`.
    package func requirePublishable(without publishers: [KeyID]) throws(KeyError) {
        try requireKind(.sender)
        for entry in entries {
            let kid = entry.record.kid
            guard !entry.record.isPrivateAsymmetric else {
                throw KeyError(.wrongKind, "key \(kid) is a private key: a published set has public keys only")
            }
            guard !publishers.contains(kid) else {
                throw KeyError(
                    .wrongKind,
                    "key \(kid) is or was a publisher of the set, so it can't be a sender: replace it by another sender key"
                )
            }
        }
    }
}
