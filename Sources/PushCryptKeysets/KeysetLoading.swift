public import PushCryptCore

/// Loading keys in a program. Each initialiser reads once; `KeysetWatcher` in PushCryptSender follows rotations.
extension Keyset {
    /// Loads the keys in a file: a keyset, `Keys/NAME.keyset` or `Keys/NAME`, a JWK set or one JWK.
    ///
    /// Links are followed, because container platforms mount files through them. A file with secrets (private halves,
    /// shared keys, pre-shared keys, encrypted or not) must be private: it belongs to this process's user with mode 600,
    /// or to root with mode 600 or 640. Root's group should then contain only the program that reads the file.
    ///
    /// Only a keyset can be encrypted: with a secret every other file is refused, public keys too. The secret authenticates
    /// everything in the keyset. To seal to a recipient whose private keys are in a keyset, use a `KeysetWatcher` or the record
    /// that the app uploaded: `recipient(at:)` refuses private keys.
    ///
    /// - Parameters:
    ///   - file: the path. The content decides what it is, not the name.
    ///   - id: of the keyset, 22 characters; nil accepts each file with keys. Give it where a path isn't proof enough: a program
    ///     signs with what lies there.
    ///   - history: a folder in which this host keeps what it has seen of keysets; nil for none. An older copy than the host has
    ///     seen, and a copy that another host has changed, are refused. If this process can write the folder, it remembers what it
    ///     reads; otherwise it only compares.
    ///   - secret: opens encrypted keys. scrypt with the standard parameters takes a third of a second and 128 MiB. With a
    ///     secret, keys in clear are refused, because an attacker who can write the file could put their own there.
    ///   - allowsDemoKeys: accepts the keys that are published with pushcrypt. They protect nothing.
    /// - Throws: `KeystoreError` with `notFound`, `noPermission`, `looseMode`, `foreignOwner`, `notAKeyset`, `damaged`,
    ///   `secretNeeded`, `notEncrypted`, `wrongSecret`, `wrapCommandFailed` or `demoKeys`; `otherKeyset` for another id, and for
    ///   another file if there is an id; `olderThanHistory`, `twoHistories`; `KeyError` for invalid keys.
    public init(
        file: String, id: String? = nil, history: String? = nil, secret: KeysetSecret? = nil,
        allowsDemoKeys: Bool = false
    ) throws {
        let place = try KeysetPlace(file: file, id: id, history: history)
        self = try place.read().unlocked(secret, allowsDemoKeys: allowsDemoKeys).keyset
    }

    /// Loads the keys in an environment variable, for containers: the whole text of a keyset's file, a JWK set or a JWK,
    /// as it is or in base64. A JSON text begins with `{`, which base64 never does.
    ///
    /// Users who may inspect the process see its environment, child processes inherit it, and crash reports copy it. Put
    /// an encrypted keyset there, and keep its passphrase in another place. Linux accepts at most 128 KiB in one variable. With
    /// a secret, plain keys are refused.
    ///
    /// - Parameter environment: the variable's name.
    /// - Throws: `KeystoreError` with `notFound` if it isn't set, `notAKeyset` for neither JSON nor base64; otherwise as
    ///   ``init(file:id:history:secret:allowsDemoKeys:)``.
    public init(environment: String, secret: KeysetSecret? = nil, allowsDemoKeys: Bool = false) throws {
        self = try RawKeyset(environment: environment).unlocked(secret, allowsDemoKeys: allowsDemoKeys).keyset
    }
}
