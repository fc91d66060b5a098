import PushCryptCore

/// Where the secret of a keyset comes from, and what the caller says with it.
///
/// | source | plain keys               | encrypted keys          |
/// | ------ | ------------------------ | ----------------------- |
/// | none   | read                     | refused: `secretNeeded` |
/// | asked  | read, without a question | decrypted               |
/// | given  | refused: `notEncrypted`  | decrypted               |
///
/// A caller who gives a secret says that the keys are encrypted. Anybody who can write the file can replace it by one with
/// plain keys of their own, and would then read what is sealed to them. A question on the terminal is not given: the answer
/// is wanted only because the file says that its keys are encrypted.
package struct SecretSource {
    /// Whether the keys must be encrypted.
    package let isGiven: Bool
    private let acceptsDemoKeys: Bool
    private let makeSecret: () throws -> KeysetSecret

    private init(isGiven: Bool, acceptsDemoKeys: Bool, _ makeSecret: @escaping () throws -> KeysetSecret) {
        self.isGiven = isGiven
        self.acceptsDemoKeys = acceptsDemoKeys
        self.makeSecret = makeSecret
    }

    /// There is no secret.
    package static var none: SecretSource {
        SecretSource(isGiven: false, acceptsDemoKeys: false) {
            throw KeystoreError(
                .secretNeeded, "the private keys are encrypted: a passphrase or a command that unwraps them is needed")
        }
    }

    /// The caller named a secret.
    ///
    /// - Parameters:
    ///   - acceptsDemoKeys: whether the published demo keys may be in plain text all the same: for callers that were
    ///     allowed to use them.
    ///   - secret: called for encrypted keys only.
    package static func given(
        acceptingDemoKeys acceptsDemoKeys: Bool = false, _ secret: @escaping () throws -> KeysetSecret
    ) -> SecretSource {
        SecretSource(isGiven: true, acceptsDemoKeys: acceptsDemoKeys, secret)
    }

    /// The caller named none and asks a person.
    ///
    /// - Parameter secret: called for encrypted keys only.
    package static func asked(_ secret: @escaping () throws -> KeysetSecret) -> SecretSource {
        SecretSource(isGiven: false, acceptsDemoKeys: false, secret)
    }

    /// - Parameter secret: nil for none; any other one is given.
    package init(_ secret: KeysetSecret?, acceptingDemoKeys acceptsDemoKeys: Bool = false) {
        self = secret.map { secret in .given(acceptingDemoKeys: acceptsDemoKeys) { secret } } ?? .none
    }

    /// - Throws: what the source throws; `KeystoreError` with `secretNeeded` where there is none.
    func secret() throws -> KeysetSecret { try makeSecret() }

    /// Refuses plain keys where a secret was given. Every way to plain keys ends here.
    ///
    /// - Parameters:
    ///   - kids: the keys.
    ///   - source: where they are, named in the error.
    /// - Throws: `KeystoreError` with `notEncrypted`.
    func requireEncryption(of kids: [KeyID], in source: String) throws(KeystoreError) {
        guard isGiven, !(acceptsDemoKeys && DemoKeys.covers(kids)) else { return }
        throw KeystoreError(
            .notEncrypted,
            "\(source) is not encrypted, though a passphrase or wrap command was given: somebody may have replaced the "
                + "encrypted keyset. Restore that; for keys that are meant to be unencrypted, give neither")
    }
}

extension Keyset {
    /// Reads one JWK or a JWK set, which nothing encrypts.
    ///
    /// - Parameters:
    ///   - source: named in errors.
    ///   - secret: a given one refuses the keys.
    ///   - allowsPublic: whether keys without private halves are read all the same, because the secret is given for
    ///     another keyset of the same command. A registration record, which holds a pre-shared key, is one of these.
    /// - Throws: `KeyError`; `KeystoreError` with `notEncrypted`.
    package init(
        plainText json: [UInt8], from source: String, _ secret: SecretSource, allowsPublic: Bool = false
    ) throws {
        try self.init(json: json)
        let isPublic = kind != .shared && !entries.contains(where: \.record.isPrivateAsymmetric)
        // The id of a device's key is its master's and says nothing of the key itself.
        let provenIDs = entries.contains(where: \.record.isDeviceKey) ? [] : keyIDs
        if !(allowsPublic && isPublic) { try secret.requireEncryption(of: provenIDs, in: source) }
    }
}
