public import PushCryptCore
package import PushCryptPrimitives

extension Sealer {
    /// Seals a payload that is too long for a push as a blob. Upload the blob's bytes, then seal a short alert with an
    /// `OffloadReference` to the place.
    ///
    /// The payload is padded to a multiple of 4 KiB, and the server sees that length and nothing else.
    ///
    /// - Parameter payload: as for ``seal(_:to:placeholder:attachments:offload:isSelfTest:options:)``, at most 256
    ///   KiB and 16,384 JSON values (names not counted).
    /// - Throws: `SealError` with `invalidPayload`, `backendFailure`, or what the value's encoding throws.
    public static func offload(_ payload: some Encodable) throws -> SealedBlob {
        try offload(payload, backend: DefaultBackend.shared)
    }

    package static func offload(_ payload: some Encodable, backend: any CryptoBackend) throws -> SealedBlob {
        let plaintext: [UInt8]
        do {
            plaintext = try OffloadedPayload.plaintext(json: json(payload))
        } catch let flaw as InnerPayload.Flaw {
            throw SealError(.invalidPayload, flaw.reason)
        } catch let error as JSONError {
            throw SealError(.invalidPayload, "the payload is not strict JSON: \(error)")
        }
        do {
            return try SealedBlob(plaintext, for: .payload, backend: backend)
        } catch {
            throw SealError(.backendFailure, error.reason)
        }
    }
}
