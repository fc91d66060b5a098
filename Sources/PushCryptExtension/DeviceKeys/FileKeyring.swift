public import PushCryptCore
public import PushCryptPrimitives

/// Stores keys in a folder that the app and its extension share: in the app group's container, or in any folder on Linux.
///
/// ```
/// FOLDER/KID.jwks.json       a JWK set of one private key with its lifecycle, mode 0600
/// FOLDER/days.json           the day keys, if there are any, mode 0600
/// ```
/// On Apple's systems the files can't be read before the first unlock after a boot and aren't in backups. The keys aren't
/// encrypted: any code of the same app or user can read them. `KeychainKeyring` protects them better.
///
/// A value contains no key: each call reads only the file that it needs.
public struct FileKeyring: DeviceKeyStorage {
    private let folder: String
    /// How long the keys are used.
    public let period: KeyPeriod

    /// Creates a keyring in a folder of the app group's container. The folder is created with mode 0700 when the first key
    /// is stored; its parent must exist.
    public init(folder: String, period: KeyPeriod = .renewed()) {
        self.folder = folder
        self.period = period
    }

    /// Returns the sorted ids of the keys; none if there is no folder. Throws `locked`, `insecure`.
    public func keyIDs() throws(DeviceKeyError) -> [KeyID] {
        do throws(DeviceKeyError) {
            return try KeyFolder(folder).names().compactMap(Self.keyID).sorted()
        } catch  where error.code == .notFound {
            return []
        }
    }

    /// Loads one key. Throws `notFound`, `locked`, `damaged`, `insecure`.
    public func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey {
        try Self.load(kid, from: try KeyFolder(folder))
    }

    /// Writes a key; one that is already stored stays unchanged. Throws `conflict`, `locked`, `insecure`, `failed`.
    public func add(_ key: DeviceKey) throws(DeviceKeyError) {
        let folder = try KeyFolder(folder, creating: true)
        try folder.lock()
        guard !folder.has(Self.name(key.kid)) else {
            guard try Self.load(key.kid, from: folder).isSameKey(as: key) else {
                throw DeviceKeyError(.conflict, "another key has the id \(key.kid); it is not replaced")
            }
            return
        }
        try Self.write(key, to: folder)
    }

    /// Changes the lifecycle of a key in one step. Throws `notFound`, `locked`, `damaged`, `insecure`, `failed`.
    public func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) {
        let folder = try KeyFolder(folder)
        try folder.lock()
        try Self.write(try Self.load(kid, from: folder).changed(to: lifecycle, at: time), to: folder)
    }

    /// Removes the file of a key if it exists. Throws `locked`, `insecure`, `failed`.
    public func remove(_ kid: KeyID) throws(DeviceKeyError) { try remove(Self.name(kid)) }

    private func remove(_ name: String) throws(DeviceKeyError) {
        do throws(DeviceKeyError) {
            let folder = try KeyFolder(folder)
            try folder.lock()
            try folder.remove(name)
        } catch  where error.code == .notFound {}
    }

    /// Reads the day keys; nil if there are none. Throws `locked`, `damaged`, `insecure`.
    public func dayKeys() throws(DeviceKeyError) -> SecretBytes? {
        do throws(DeviceKeyError) {
            var text = try KeyFolder(folder).read(Self.daysName)
            defer { wipe(&text) }
            return SecretBytes(copying: text.bytes)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    /// Replaces the day keys. Throws `locked`, `damaged`, `insecure`, `failed`.
    public func replaceDayKeys(_ old: SecretBytes?, by new: SecretBytes?) throws(DeviceKeyError) -> Bool {
        guard let new else {
            try remove(Self.daysName)
            return true
        }
        let folder = try KeyFolder(folder, creating: true)
        try folder.lock()
        guard try dayKeys() == old else { return false }
        var text = Array(new.bytes)
        defer { wipe(&text) }
        try folder.replace(Self.daysName, with: text)
        return true
    }

    private static let daysName = "days.json"

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
