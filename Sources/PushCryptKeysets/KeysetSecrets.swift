import PushCryptCore
package import PushCryptPrimitives

/// The name of one of several secrets of a keyset: 1 to 64 ASCII letters, digits, ".", "_" and "-".
package struct SecretName: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init?(_ text: String) {
        let isAllowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isAllowed, (1...64).contains(text.utf8.count) else { return nil }
        description = text
    }
}

/// The secrets of an encrypted keyset: each of them wraps the keyset key, which encrypts the data key of each file.
///
/// ```
/// "locks": [{"name": NAME, LOCK, "key": B64(keyset key, wrapped by LOCK with aad "pushcrypt/1 keyset key")}, ... 1 to 8]
/// ```
/// The keyset key stays the same when the keys change, so a writer needs one of the secrets only. When a secret is removed,
/// there is a new keyset key, because a user who knows the removed secret can compute the old one from a copy of the file.
package struct KeysetSecrets: Sendable {
    struct Entry: Hashable, Sendable {
        let name: SecretName
        let lock: KeysetLock
        /// Its length is in `KeysetLock.wrappedByteCounts`.
        let wrapped: [UInt8]
    }

    let key: DataKey
    private(set) var entries: [Entry] = []

    package static let maximumCount = 8
    /// The additional data of a wrapped key.
    fileprivate static let context = Array("pushcrypt/1 keyset key".utf8)

    /// Makes a new keyset key.
    ///
    /// - Throws: as `add`.
    package init(
        ofLog secrets: [(name: SecretName, secret: KeysetSecret)], _ parameters: ScryptParameters = .standard
    ) throws {
        key = try .random()
        for (name, secret) in secrets { try add(name, secret, parameters) }
    }

    /// Reads the keyset key with one of the secrets. A passphrase is compared with each of the passphrases in their order, and
    /// a command unwraps the key of the first command that it can.
    ///
    /// - Parameter row: of the secrets, for errors.
    /// - Throws: `KeysetLogError` with `wrongSecret`, `secretNeeded` for a secret of a kind that no entry has, `notAuthentic`;
    ///   `KeystoreError` with `wrapCommandFailed`, `inputOutput`; `CryptoError`.
    init(unlocking entries: [Entry], with secret: KeysetSecret, row: Int) throws {
        // That of an entry of the secret's kind says more than that of another kind.
        var failure: any Error = KeysetLogError(.secretNeeded, row: row)
        for entry in entries {
            do {
                guard let key = try entry.key(secret, row: row) else {
                    throw KeysetLogError(.notAuthentic, row: row, "sealed.locks")
                }
                self.key = key
                self.entries = entries
                return
            } catch let error as KeysetLogError where error.code == .secretNeeded {
                continue
            } catch let error as KeysetLogError where error.code == .wrongSecret {
                failure = error
            } catch let error as KeystoreError where error.code == .wrapCommandFailed {
                failure = Self.naming(entries.named.filter { $0.protection != .command }, error)
            }
        }
        throw failure
    }

    /// A key server is down, or a command lacks a permission: the keyset's passphrases help.
    private static func naming(_ others: [Protection.Named], _ error: KeystoreError) -> KeystoreError {
        guard !others.isEmpty else { return error }
        return KeystoreError(
            error.code,
            "\(error.reason). Other secrets open the keyset, too: \(others.map(\.text).joined(separator: ", "))")
    }

    package var names: [SecretName] { entries.map(\.name) }

    /// Adds a secret that opens the keyset like the others.
    ///
    /// - Throws: `KeystoreError` with `alreadyExists` for a name or a passphrase that is there, `cannotCreate` for a ninth
    ///   secret, `wrapCommandFailed`.
    package mutating func add(_ name: SecretName, _ secret: KeysetSecret, _ parameters: ScryptParameters) throws {
        guard !names.contains(name) else {
            throw KeystoreError(.alreadyExists, "the keyset has a secret named \(name): choose another name")
        }
        guard entries.count < Self.maximumCount else {
            throw KeystoreError(
                .cannotCreate, "the keyset has \(Self.maximumCount) secrets, the highest number: remove one first")
        }
        if let other = try entries.first(where: { try !secret.isCommand && $0.lock.accepts(secret) }) {
            throw KeystoreError(
                .alreadyExists, "the passphrase is that of the secret \(other.name): choose another one")
        }
        let (lock, wrapped) = try KeysetLock.wrap(key, secret, parameters, aad: Self.context)
        entries.append(Entry(name: name, lock: lock, wrapped: wrapped))
    }

    /// The secret that opens each entry but one, and the entries that none of `secrets` opens.
    package func found(
        among secrets: [KeysetSecret], without name: SecretName
    ) -> (secrets: [(name: SecretName, secret: KeysetSecret)], missing: [SecretName]) {
        var result: (secrets: [(name: SecretName, secret: KeysetSecret)], missing: [SecretName]) = ([], [])
        for entry in entries where entry.name != name {
            // A command that fails says why on stderr.
            if let secret = secrets.first(where: { (try? entry.key($0, row: 0))??.secret == key.secret }) {
                result.secrets.append((entry.name, secret))
            } else {
                result.missing.append(entry.name)
            }
        }
        return result
    }
}

extension KeysetSecrets.Entry {
    /// - Returns: nil if authentication fails.
    fileprivate func key(_ secret: KeysetSecret, row: Int) throws -> DataKey? {
        try lock.unwrap(wrapped, secret, aad: KeysetSecrets.context, row: row)
    }

    /// - Throws: `KeyError` with `malformed`.
    init(_ member: JSONValue) throws(KeyError) {
        guard let name = member["name"]?.string.flatMap(SecretName.init) else {
            throw KeyError(
                .malformed, "a secret in sealed.locks has no name of letters, digits, \".\", \"_\" and \"-\"")
        }
        self.name = name
        lock = try KeysetLock(member)
        guard let wrapped = member.base64URL("key"), lock.wrappedByteCounts.contains(wrapped.count) else {
            throw KeyError(.malformed, "the secret \(name) in sealed.locks has no wrapped key")
        }
        self.wrapped = wrapped
    }

    var json: String { "{\"name\":\"\(name)\",\(lock.json),\"key\":\"\(Base64URL.encode(wrapped))\"}" }
}

extension [KeysetSecrets.Entry] {
    /// - Throws: `KeyError` with `malformed`.
    init(locks member: JSONValue?) throws(KeyError) {
        guard let member, member.kind == .array, (1...KeysetSecrets.maximumCount).contains(member.elements.count)
        else {
            throw KeyError(.malformed, "sealed.locks is missing, or doesn't have 1 to 8 elements")
        }
        self = []
        for element in member.elements { append(try KeysetSecrets.Entry(element)) }
        guard Set(map(\.name)).count == count else {
            throw KeyError(.malformed, "two secrets in sealed.locks have the same name")
        }
    }

    /// The bytes of the member `locks`, which the keys authenticate.
    var json: [UInt8] { [UInt8]("[\(map(\.json).joined(separator: ","))]".utf8) }

    var named: [Protection.Named] { map { Protection.Named(name: $0.name, protection: $0.lock.protection) } }
}
