import PushCryptCore
package import PushCryptKeysets
import PushCryptPrimitives

/// The files of a keyset as they are written.
extension StoredKeyset {
    /// The text of `public.jwks.json`; nil for shared keys, which have nothing public.
    package func published() throws -> [UInt8]? {
        guard metadata.kind != .shared else { return nil }
        return try keyset().publicKeyset(keepingPSK: false).jwkSet(withHistory: false)
    }

    /// The text of `keyset.json`. The caller wipes it.
    ///
    /// - Throws: `KeystoreError` with `secretNeeded` where the protection needs one.
    package func fileText() throws -> [UInt8] {
        var keys = try keysText()
        defer { wipe(&keys) }
        let metadata = metadata.json
        var output = [UInt8]()
        output.reserveCapacity(keys.count * 2 + metadata.count + 1_024)
        output += "{\n  ".utf8
        if protection == .plaintext {
            output += keys[1..<keys.count - 1]
        } else {
            let sealed = try sealedKeys(keys, metadata)
            output += "\"sealed\": ".utf8
            output += sealed.json
        }
        output += ",\n  \"pushcrypt\": ".utf8
        output += metadata
        let digest = try KeysetFile.digest(output[...])
        output += ",\n  \"\(KeysetFile.digestName)\": \"\(Base64URL.encode(digest))\"\n}\n".utf8
        return output
    }

    private func sealedKeys(_ keys: [UInt8], _ metadata: [UInt8]) throws -> SealedKeys {
        guard let secret else { throw KeystoreError(.secretNeeded, "encrypting the keys needs a secret") }
        var parameters = ScryptParameters.standard
        if case .passphrase(let own) = protection { parameters = own }
        return try SealedKeys.seal(keys, metadata: metadata, secret: secret, parameters: parameters)
    }

    /// `{"keys": [JWK, ...]}`
    private func keysText() throws -> [UInt8] {
        var output = [UInt8]()
        output.reserveCapacity(64 + records.count * (KeyRecord.maximumJWKByteCount + 8))
        output += "{\"keys\": [".utf8
        var isFirst = true
        for key in metadata.timeline.keys {
            guard let record = records[key.kid] else { continue }
            output += (isFirst ? "\n    " : ",\n    ").utf8
            isFirst = false
            try record.appendJWK(to: &output)
        }
        output += "\n  ]}".utf8
        return output
    }
}
