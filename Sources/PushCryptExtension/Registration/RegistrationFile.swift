import PushCryptCore
import PushCryptPrimitives

/// What the app remembers of its last upload.
///
/// ```
/// FOLDER/registration.json    {"digest": BASE64URL(32 bytes), "account": BASE64URL(32 bytes), "fetchedAt": n, "erase": 1}
/// ```
/// Each member may be absent.
/// A file of another form counts as no file: the app uploads again.
struct RegistrationFile {
    private static let name = "registration.json"

    /// SHA-256 of the key, device token, account and set of sender keys that the backend has.
    var digest: [UInt8]?
    /// SHA-256 of the account that the device's keys belong to.
    var account: [UInt8]?
    /// When the set of sender keys was last fetched.
    var fetchedAt: UnixTime?
    /// Whether the user has signed out, and the keys may not be erased yet.
    var mustErase = false

    /// - Throws: `DeviceKeyError` with `locked`, `insecure`, `failed`.
    init(_ folder: String) throws(DeviceKeyError) {
        let text: [UInt8]
        do throws(DeviceKeyError) { text = try KeyFolder(folder).read(Self.name) } catch {
            guard error.code == .notFound || error.code == .damaged else { throw error }
            return
        }
        let root = (try? JSONText(text))?.root
        digest = root?["digest"]?.utf8.flatMap(Base64URL.decode)
        account = root?["account"]?.utf8.flatMap(Base64URL.decode)
        fetchedAt = root?["fetchedAt"]?.protocolInteger.map { UnixTime($0) }
        mustErase = root?["erase"]?.protocolInteger == 1
    }

    /// Replaces the file in one step. Throws `DeviceKeyError` with `locked`, `insecure`, `failed`.
    func write(to path: String) throws(DeviceKeyError) {
        let folder = try KeyFolder(path, creating: true)
        try folder.lock()
        let members = [
            digest.map { "\"digest\": \"\(Base64URL.encode($0))\"" },
            account.map { "\"account\": \"\(Base64URL.encode($0))\"" },
            fetchedAt.map { "\"fetchedAt\": \($0.seconds)" }, mustErase ? "\"erase\": 1" : nil,
        ]
        let text = "{" + members.compactMap(\.self).joined(separator: ", ") + "}\n"
        try folder.replace(Self.name, with: Array(text.utf8))
    }

    /// Removes the file if it exists. Throws `DeviceKeyError` with `locked`, `insecure`, `failed`.
    static func remove(from path: String) throws(DeviceKeyError) {
        do throws(DeviceKeyError) {
            let folder = try KeyFolder(path)
            try folder.lock()
            try folder.remove(name)
        } catch  where error.code == .notFound {}
    }
}
