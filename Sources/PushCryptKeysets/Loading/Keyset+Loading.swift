public import PushCryptCore

/// Loading keys in a program. Each of these reads once; a `KeysetWatcher` of PushCryptSender follows rotations.
extension Keyset {
    /// Loads a keyset of a keystore, `Keys/NAME`, private halves and all.
    ///
    /// Its folder and file must be private: they belong to this process's user or to root, and nobody else can reach them.
    /// To seal to the keys of a recipient, whose private halves are in it too, use a `KeysetWatcher` or the record that the app uploaded: `recipient(at:)` refuses private keys.
    ///
    /// - Parameters:
    ///   - folder: the keyset's folder, not a link to it.
    ///   - secret: opens encrypted keys. scrypt with the usual parameters takes a third of a second and 128 MiB. Where one
    ///     is given the keys must be encrypted: somebody who can write the folder could put plain ones of their own there.
    ///   - allowsDemoKeys: accepts the keys that are published with pushcrypt. They protect nothing: for trying out only.
    /// - Throws: `KeystoreError` with `notFound`, `noPermission`, `looseMode`, `foreignOwner`, `notAKeyset`, `damaged`,
    ///   `secretNeeded`, `notEncrypted` for plain keys and a secret, `wrongSecret`, `wrapCommandFailed` or `demoKeys`;
    ///   `KeyError` for what isn't a keyset.
    public init(folder: String, secret: KeysetSecret? = nil, allowsDemoKeys: Bool = false) throws {
        self = try KeysetPlace(folder: folder).read().keyset(secret, allowsDemoKeys: allowsDemoKeys)
    }

    /// Loads the keys in a file: one JWK, a JWK set, or the `keyset.json` of a keystore.
    ///
    /// Links are followed, as container platforms mount files through them. A file with secrets in it (private halves,
    /// shared keys, pre-shared keys, encrypted or not) must be private: it belongs to this process's user or to root, with
    /// mode 600, or 640 where it belongs to root, whose group is then the one program that it is meant for.
    ///
    /// Only a `keyset.json` can be encrypted: with a secret everything else is refused, public keys too.
    ///
    /// - Throws: as ``init(folder:secret:allowsDemoKeys:)``.
    public init(file: String, secret: KeysetSecret? = nil, allowsDemoKeys: Bool = false) throws {
        self = try KeysetPlace(file: file).read().keyset(secret, allowsDemoKeys: allowsDemoKeys)
    }

    /// Loads the keys in one variable of the environment, for containers: the whole text of a `keyset.json`, a JWK set or
    /// a JWK, as it is or in base64. A JSON text begins with `{`, which base64 never does.
    ///
    /// Users who may inspect the process see its environment, child processes inherit it, and crash reports copy it. Put an
    /// encrypted keyset there, and its passphrase somewhere else. Linux takes at most 128 KiB in one variable. With a
    /// secret everything but an encrypted keyset is refused.
    ///
    /// - Parameter environment: the variable's name.
    /// - Throws: `KeystoreError` with `notFound` where it isn't set, `notAKeyset` for neither JSON nor base64; else as
    ///   ``init(folder:secret:allowsDemoKeys:)``.
    public init(environment: String, secret: KeysetSecret? = nil, allowsDemoKeys: Bool = false) throws {
        self = try KeysetText(environment: environment).keyset(secret, allowsDemoKeys: allowsDemoKeys)
    }
}
