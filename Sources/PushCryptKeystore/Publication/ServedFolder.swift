import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// The sets in a folder that a web server serves, as `keys publish` wrote them, to compare keysets with.
package struct ServedFolder: Sendable {
    package let path: String

    /// - Throws: `KeystoreError` if there is no such folder, or it can't be read.
    package init(_ path: String) throws {
        self.path = KeysetFolder(path).path
        _ = try KeystoreError.convertingFileErrors { try FileSystem.names(in: self.path) }
    }

    /// The signed set and the public keys of the keyset with a name, if they are there.
    ///
    /// - Throws: `KeystoreError` if a file can't be read, `notPublished` if it isn't a set.
    func sets(of name: String) throws -> [ServedSet] {
        let folder = try KeystoreError.convertingFileErrors { try Folder(path, followingLinks: true) }
        return try [(".json", true), (".jwks.json", false)].compactMap { suffix, isSigned in
            guard folder.has(name + suffix) else { return nil }
            let bytes = try KeystoreError.convertingFileErrors { try folder.read(name + suffix).bytes }
            guard let set = ServedSet(bytes, path: folder.path(of: name + suffix), isSigned: isSigned) else {
                throw KeystoreError(
                    .notPublished, "\(folder.path(of: name + suffix)) is not a set that `keys publish` writes")
            }
            return set
        }
    }
}

/// What a served set says about itself. Its signature isn't verified: apps do that.
struct ServedSet {
    let path: String
    let isSigned: Bool
    let sequence: Int64
    let kids: Set<String>
    let revoked: Set<String>

    /// - Returns: nil for bytes that are no set.
    init?(_ bytes: [UInt8], path: String, isSigned: Bool) {
        self.path = path
        self.isSigned = isSigned
        let payload = isSigned ? (try? JSONText(bytes).root["payload"]?.utf8).flatMap(Base64URL.decode) : bytes
        guard let payload, let root = try? JSONText(payload).root, let keys = root["keys"], keys.kind == .array,
            let sequence = root["pushcrypt"]?["seq"]?.protocolInteger
        else { return nil }
        let lifecycles = root["pushcrypt"]?["keys"]
        self.sequence = sequence
        kids = Set(keys.elements.compactMap { $0["kid"]?.string })
        revoked = kids.filter { lifecycles?[$0]?["revokedAt"] != nil }
    }
}
