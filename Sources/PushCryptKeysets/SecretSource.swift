import PushCryptCore

/// The source of a keyset's secret, and what the caller requires of the keyset: encryption, a `seq`, a head of its log.
///
/// | source | plain keys               | encrypted keys          |
/// | ------ | ------------------------ | ----------------------- |
/// | none   | read                     | refused: `secretNeeded` |
/// | asked  | read, without a question | decrypted               |
/// | given  | refused: `notEncrypted`  | decrypted               |
///
/// A caller who gives a secret states that the keys are encrypted. Otherwise an attacker who can write the file could
/// replace it with their own plain keys and read what is sealed to them. An answer on the terminal is not given in this
/// sense, because the question is asked only if the file contains encrypted keys.
package struct SecretSource {
    /// Whether the keys must be encrypted.
    package let isGiven: Bool
    /// What a keyset must be at least. It is checked wherever a keyset's file is unlocked or planned with.
    package private(set) var expected = ExpectedState.anything
    /// The options that name the secret, for commands that errors advise: each begins with a space.
    package private(set) var arguments = ""
    private let acceptsDemoKeys: Bool
    /// Throws what the source throws; `KeystoreError` with `secretNeeded` if there is none.
    package let secret: () throws -> KeysetSecret

    private init(isGiven: Bool, acceptsDemoKeys: Bool = false, _ secret: @escaping () throws -> KeysetSecret) {
        self.isGiven = isGiven
        self.acceptsDemoKeys = acceptsDemoKeys
        self.secret = secret
    }

    package static var none: SecretSource {
        SecretSource(isGiven: false) {
            throw KeystoreError(
                .secretNeeded, "the private keys are encrypted: a passphrase or a command that unwraps them is needed")
        }
    }

    /// The caller named a secret.
    ///
    /// - Parameters:
    ///   - acceptsDemoKeys: whether the published demo keys may be in plain text.
    ///   - secret: called for encrypted keys only.
    package static func given(
        acceptingDemoKeys acceptsDemoKeys: Bool = false, _ secret: @escaping () throws -> KeysetSecret
    ) -> SecretSource {
        SecretSource(isGiven: true, acceptsDemoKeys: acceptsDemoKeys, secret)
    }

    /// The caller named no secret and asks a person.
    ///
    /// - Parameter secret: called for encrypted keys only.
    package static func asked(_ secret: @escaping () throws -> KeysetSecret) -> SecretSource {
        SecretSource(isGiven: false, secret)
    }

    /// - Parameter secret: nil for none; otherwise a given secret.
    package init(_ secret: KeysetSecret?, acceptingDemoKeys acceptsDemoKeys: Bool = false) {
        self = secret.map { secret in .given(acceptingDemoKeys: acceptsDemoKeys) { secret } } ?? .none
    }

    package func expecting(_ state: ExpectedState) -> SecretSource {
        var source = self
        source.expected = state
        return source
    }

    package func named(by arguments: String) -> SecretSource {
        var source = self
        source.arguments = arguments
        return source
    }

    /// The same secret, for keys that must be encrypted.
    package func required(acceptingDemoKeys acceptsDemoKeys: Bool) -> SecretSource {
        .given(acceptingDemoKeys: acceptsDemoKeys, secret).named(by: arguments)
    }

    /// Refuses plain keys if a secret was given. Every function that returns plain keys calls this function.
    ///
    /// - Parameters:
    ///   - kids: the ids of the plain keys.
    ///   - source: the place of the keys, named in the error.
    /// - Throws: `KeystoreError` with `notEncrypted`.
    func requireEncryption(of kids: [KeyID], in source: String) throws(KeystoreError) {
        guard isGiven, !(acceptsDemoKeys && DemoKeys.covers(kids)) else { return }
        throw KeystoreError(
            .notEncrypted,
            "\(source) is not encrypted, though a passphrase or wrap command was given: another user may have replaced "
                + "the encrypted keyset. Restore it. For keys that are meant to be unencrypted, give neither; if other keys "
                + "of the command need a secret, encrypt these too (`keys passwd`)")
    }
}

extension Keyset {
    /// Reads one JWK or a JWK set, which is never encrypted.
    ///
    /// - Parameters:
    ///   - source: named in errors.
    ///   - secret: a given secret refuses the keys.
    ///   - allowsPublic: whether keys without private halves are accepted despite a given secret, because it is given for
    ///     another keyset of the same command. A registration record with a pre-shared key is accepted too.
    /// - Throws: `KeyError`; `KeystoreError` with `notEncrypted`, `unexpectedState`.
    package init(
        plainText json: [UInt8], from source: String, _ secret: SecretSource, allowsPublic: Bool = false
    ) throws {
        try self.init(json: json)
        let isPublic = kind != .shared && !entries.contains(where: \.record.isPrivateAsymmetric)
        // A device key has its master's id, which doesn't identify it.
        let provenIDs = entries.contains(where: \.record.isDeviceKey) ? [] : keyIDs
        guard !(allowsPublic && isPublic) else { return }
        try secret.requireEncryption(of: provenIDs, in: source)
        try secret.expected.refuse(source)
    }
}
