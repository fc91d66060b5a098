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

/// The secrets of a keyset that has several: each of them wraps the keyset key, which encrypts the data key of each file.
///
/// ```
/// "locks": [{"name": NAME, LOCK, "key": B64(keyset key, wrapped by LOCK with aad "pushcrypt/2 keyset key")}, ... 2 to 8]
/// ```
/// The keyset key stays the same when the keys change, so a writer needs one of the secrets only. When a secret is removed,
/// there is a new keyset key, because a user who knows the removed secret can compute the old one from a copy of the file.
package struct KeysetSecrets: Sendable {
    /// The file that the keyset key is for.
    enum Use: String, Hashable {
        case file = "pushcrypt/2 keyset key"
        case log = "pushcrypt/1 keyset key"

        /// The additional data of a wrapped key.
        var context: [UInt8] { Array(rawValue.utf8) }
    }

    struct Entry: Hashable, Sendable {
        let use: Use
        let name: SecretName
        let lock: KeysetLock
        /// Its length is in `KeysetLock.wrappedByteCounts`.
        let wrapped: [UInt8]
    }

    let key: DataKey
    private let use: Use
    private(set) var entries: [Entry] = []

    package static let maximumCount = 8

    /// Makes a new keyset key.
    ///
    /// - Throws: as `add`.
    package init(_ secrets: [(name: SecretName, secret: KeysetSecret)], _ parameters: ScryptParameters) throws {
        try self.init(secrets, parameters, .file)
    }

    /// Makes a new keyset key for a keyset that is a log.
    package init(
        ofLog secrets: [(name: SecretName, secret: KeysetSecret)], _ parameters: ScryptParameters = .standard
    ) throws { try self.init(secrets, parameters, .log) }

    private init(
        _ secrets: [(name: SecretName, secret: KeysetSecret)], _ parameters: ScryptParameters, _ use: Use
    ) throws {
        key = try .random()
        self.use = use
        for (name, secret) in secrets { try add(name, secret, parameters) }
    }

    /// Reads the keyset key with one of the secrets. A passphrase is compared with each of the passphrases in their order, and
    /// a command unwraps the key of the first command that it can.
    ///
    /// - Throws: `KeystoreError` with `wrongSecret`, `secretNeeded` for a secret of a kind that no entry has,
    ///   `wrapCommandFailed`, `damaged`.
    init(unlocking entries: [Entry], with secret: KeysetSecret, _ path: String) throws {
        var failure: KeystoreError?
        for entry in entries {
            do throws(KeystoreError) {
                guard let key = try entry.key(secret, path) else { throw Self.damaged(path) }
                self.key = key
                self.use = entry.use
                self.entries = entries
                return
            } catch {
                // The failure of an entry of the secret's kind says more than that of another kind.
                if failure == nil || failure?.code == .secretNeeded { failure = error }
                guard [.secretNeeded, .wrongSecret, .wrapCommandFailed].contains(error.code) else { throw error }
            }
        }
        if failure?.code == .wrongSecret, entries.count > 1 {
            throw KeystoreError(
                .wrongSecret,
                "\(path): the passphrase is wrong. The keyset has \(entries.count) secrets, each of which opens it: "
                    + entries.named.map(\.text).joined(separator: ", "))
        }
        throw failure ?? Self.damaged(path)
    }

    private static func damaged(_ path: String) -> KeystoreError {
        KeystoreError(.damaged, "\(path): the keyset key doesn't match its secret: the file is damaged or was changed")
    }

    package var names: [SecretName] { entries.map(\.name) }
    package var protection: Protection { entries.protection }

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
        let (lock, wrapped) = try KeysetLock.wrap(key, secret, parameters, aad: use.context)
        entries.append(Entry(use: use, name: name, lock: lock, wrapped: wrapped))
    }

    /// The remaining secrets with their names. Each of `secrets` is used for the entries that it opens.
    ///
    /// - Parameter command: the command that removes the secret, for the message about remaining secrets that are missing.
    /// - Throws: `KeystoreError` with `notFound` for a name that isn't there, `secretNeeded` if one of the remaining secrets
    ///   isn't in `secrets`.
    package func remaining(
        without name: SecretName, _ secrets: [KeysetSecret], _ path: String, command: String
    ) throws -> [(name: SecretName, secret: KeysetSecret)] {
        guard names.contains(name) else {
            let all = names.map(\.description).joined(separator: ", ")
            throw KeystoreError(.notFound, "\(path) has no secret named \(name); its secrets are \(all)")
        }
        var found: [(name: SecretName, secret: KeysetSecret)] = []
        var missing: [Entry] = []
        for entry in entries where entry.name != name {
            if let secret = secrets.first(where: { (try? entry.key($0, path))??.secret == key.secret }) {
                found.append((entry.name, secret))
            } else {
                missing.append(entry)
            }
        }
        guard missing.isEmpty else { throw Self.isIncomplete(missing, path, command) }
        return found
    }

    private static func isIncomplete(_ missing: [Entry], _ path: String, _ command: String) -> KeystoreError {
        let options = missing.map {
            $0.lock.protection == .command ? " --remaining-wrap-command COMMAND" : " --remaining-passphrase-file FILE"
        }
        return KeystoreError(
            .secretNeeded,
            "\(path): the \(missing.count == 1 ? "secret" : "secrets") \(missing.named.map(\.text).joined(separator: ", ")) "
                + "\(missing.count == 1 ? "is" : "are") needed too, because the keyset gets a new key that the removed secret "
                + "doesn't open: `\(command)\(options.joined())`")
    }
}

extension KeysetSecrets.Entry {
    /// - Returns: nil if authentication fails.
    fileprivate func key(_ secret: KeysetSecret, _ path: String) throws(KeystoreError) -> DataKey? {
        do {
            return try lock.unwrap(wrapped, secret, aad: use.context, path)
        } catch let error as KeystoreError {
            throw error
        } catch {
            throw KeystoreError(.damaged, "\(path): the secret \(name) can't be used: \(error)")
        }
    }

    /// - Throws: `KeyError` with `malformed`.
    init(_ member: JSONValue, _ use: KeysetSecrets.Use) throws(KeyError) {
        guard let name = member["name"]?.string.flatMap(SecretName.init) else {
            throw KeyError(
                .malformed, "a secret in sealed.locks has no name of letters, digits, \".\", \"_\" and \"-\"")
        }
        self.use = use
        self.name = name
        lock = try KeysetLock(member)
        guard let wrapped = member.base64URL("key"), lock.wrappedByteCounts.contains(wrapped.count) else {
            throw KeyError(.malformed, "the secret \(name) in sealed.locks has no wrapped key")
        }
        self.wrapped = wrapped
    }

    var json: String { "{\"name\": \"\(name)\", \(lock.json), \"key\": \"\(Base64URL.encode(wrapped))\"}" }
}

extension [KeysetSecrets.Entry] {
    /// - Throws: `KeyError` with `malformed`.
    init(locks member: JSONValue?, least: Int = 2, _ use: KeysetSecrets.Use = .file) throws(KeyError) {
        guard let member, member.kind == .array, (least...KeysetSecrets.maximumCount).contains(member.elements.count)
        else {
            throw KeyError(.malformed, "sealed.locks is missing, or doesn't have \(least) to 8 elements")
        }
        self = []
        for element in member.elements { append(try KeysetSecrets.Entry(element, use)) }
        guard Set(map(\.name)).count == count else {
            throw KeyError(.malformed, "two secrets in sealed.locks have the same name")
        }
    }

    /// The bytes of the member `locks`, which the keys authenticate.
    var json: [UInt8] { [UInt8]("[\n      \(map(\.json).joined(separator: ",\n      "))]".utf8) }

    var named: [Protection.Named] { map { Protection.Named(name: $0.name, protection: $0.lock.protection) } }

    var protection: Protection { .several(named) }
}
