package import PushCryptPrimitives

extension KeyRecord {
    /// The record with a private half that lives elsewhere, such as in a Secure Enclave.
    ///
    /// - Throws: `KeyError` with `wrongKind` for other than a recipient's record, `invalidKey` for the private half of
    ///   another key.
    package func withPrivateKey(_ privateKey: any DHPrivateKey) throws(KeyError) -> KeyRecord {
        guard case .recipient(let publicKey, _, let psk) = material else {
            throw KeyError(.wrongKind, "key \(kid) is not a recipient's key pair")
        }
        let own = privateKey.publicKey
        guard own.group == publicKey.group, own.serialized == publicKey.serialized else {
            throw KeyError(.invalidKey, "key \(kid): the private key given is that of another public key")
        }
        let whole: Material = .recipient(publicKey: publicKey, privateKey: privateKey, psk: psk)
        return KeyRecord(kid: kid, material: whole, backend: backend)
    }
}
