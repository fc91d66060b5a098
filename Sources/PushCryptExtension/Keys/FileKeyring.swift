public import PushCryptCore
import PushCryptPrimitives

/// Keys in a folder that the app and its extension share: the container of their app group, or any folder on Linux.
///
/// ```
/// FOLDER/KID.jwks.json       a JWK set of one private key with its lifecycle, mode 0600
/// ```
/// On Apple's systems the files can't be read before the first unlock after a boot, and stay out of backups. The keys are
/// in clear to whatever runs as the same app or user; `KeychainKeyring` keeps them better.
///
/// A value is cheap and holds no key: each call reads the one file that it needs.
public struct FileKeyring: DeviceKeyStorage {
    private let folder: String

    /// - Parameter folder: a path, of a folder of the keyring's own in the app group's container. It is made, mode 0700,
    ///   with the first key; the folder above it must exist.
    public init(folder: String) {
        self.folder = folder
    }

    public func keyIDs() throws(DeviceKeyError) -> [KeyID] {
        do throws(DeviceKeyError) {
            return try KeyFolder(folder).names().compactMap(Self.keyID).sorted()
        } catch  where error.code == .notFound {
            return []
        }
    }

    public func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey {
        try Self.load(kid, from: try KeyFolder(folder))
    }

    public func add(_ key: DeviceKey) throws(DeviceKeyError) {
        let folder = try KeyFolder(folder, creating: true)
        try folder.lock()
        guard !folder.has(Self.name(key.kid)) else {
            guard try Self.load(key.kid, from: folder).isSameKey(as: key) else {
                throw DeviceKeyError(.conflict, "another key is called \(key.kid); it is not replaced")
            }
            return
        }
        try Self.write(key, to: folder)
    }

    public func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) {
        let folder = try KeyFolder(folder)
        try folder.lock()
        try Self.write(try Self.load(kid, from: folder).changed(to: lifecycle, at: time), to: folder)
    }

    public func remove(_ kid: KeyID) throws(DeviceKeyError) {
        do throws(DeviceKeyError) {
            let folder = try KeyFolder(folder)
            try folder.lock()
            try folder.remove(Self.name(kid))
        } catch  where error.code == .notFound {}
    }

    private static func load(_ kid: KeyID, from folder: KeyFolder) throws(DeviceKeyError) -> DeviceKey {
        var text = try folder.read(name(kid))
        defer { wipe(&text) }
        return try DeviceKey(jwkSet: text, kid: kid)
    }

    private static func write(_ key: DeviceKey, to folder: KeyFolder) throws(DeviceKeyError) {
        var text = try key.jwkSet()
        defer { wipe(&text) }
        try folder.replace(name(key.kid), with: text)
    }

    private static let suffix = ".jwks.json"

    private static func name(_ kid: KeyID) -> String { kid.description + suffix }

    private static func keyID(_ name: String) -> KeyID? {
        name.hasSuffix(suffix) ? KeyID(String(name.dropLast(suffix.count))) : nil
    }
}
