#if canImport(Security)
import Foundation
import PushCryptExtension
import Security

/// The generic-password items with one service in one access group.
struct KeychainItems: Sendable {
    let service: String
    let accessGroup: String

    struct Item {
        let account: String
        let generic: Data?
        /// A copy made by the system; it can't be wiped.
        let data: Data?
    }

    private var query: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccessGroup as String: accessGroup,
            // Without it, macOS would use its older keychain.
            kSecUseDataProtectionKeychain as String: true,
        ]
    }

    private func query(_ account: String) -> [String: Any] {
        query.merging([kSecAttrAccount as String: account]) { $1 }
    }

    /// - Returns: nil if the keychain finds no item, which before the first unlock doesn't prove that none exists.
    func read(_ account: String) throws(DeviceKeyError) -> Item? {
        var query = query(account)
        query[kSecReturnData as String] = true
        query[kSecReturnAttributes as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        guard let result = try Keychain.search(query, "read key \(account)") else { return nil }
        guard let attributes = result as? [String: Any] else {
            throw DeviceKeyError(errSecSuccess, "read key \(account)")
        }
        return Item(attributes)
    }

    /// Doesn't read the items' data.
    func list() throws(DeviceKeyError) -> [Item] {
        var query = query
        query[kSecReturnAttributes as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        return try Keychain.all(query, "list the keys").compactMap(Item.init)
    }

    /// - Returns: false if the account already has an item.
    func add(_ account: String, _ data: Data, generic: Data? = nil) throws(DeviceKeyError) -> Bool {
        var attributes = query(account)
        attributes[kSecValueData as String] = data
        attributes[kSecAttrGeneric as String] = generic
        // Pushes are received while the device is locked. A key must not move to another device, where it would open.
        attributes[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        let status = SecItemAdd(attributes as CFDictionary, nil)
        if status == errSecDuplicateItem { return false }
        guard status == errSecSuccess else { throw DeviceKeyError(status, "add key \(account)") }
        return true
    }

    func update(_ account: String, _ data: Data) throws(DeviceKeyError) {
        let changes: [String: Any] = [kSecValueData as String: data]
        let status = SecItemUpdate(query(account) as CFDictionary, changes as CFDictionary)
        guard status == errSecSuccess else { throw DeviceKeyError(status, "change key \(account)") }
    }

    /// - Returns: false if the item doesn't have the old attribute any more.
    func update(
        _ account: String, _ data: Data, replacing old: Data, by new: Data
    ) throws(DeviceKeyError) -> Bool {
        let query = query(account).merging([kSecAttrGeneric as String: old]) { $1 }
        let changes: [String: Any] = [kSecValueData as String: data, kSecAttrGeneric as String: new]
        let status = SecItemUpdate(query as CFDictionary, changes as CFDictionary)
        if status == errSecItemNotFound { return false }
        guard status == errSecSuccess else { throw DeviceKeyError(status, "change \(account)") }
        return true
    }

    func remove(_ account: String) throws(DeviceKeyError) {
        try Keychain.remove(query(account), "remove key \(account)")
    }
}

extension KeychainItems.Item {
    fileprivate init?(_ attributes: [String: Any]) {
        guard let account = attributes[kSecAttrAccount as String] as? String else { return nil }
        self.account = account
        generic = attributes[kSecAttrGeneric as String] as? Data
        data = attributes[kSecValueData as String] as? Data
    }
}

/// Calls of the keychain that items and keys share.
enum Keychain {
    /// - Parameter what: the operation, for the error "the keychain can't …".
    /// - Returns: nil if nothing was found.
    static func search(_ query: [String: Any], _ what: String) throws(DeviceKeyError) -> CFTypeRef? {
        var result: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let result else { throw DeviceKeyError(status, what) }
        return result
    }

    static func all(_ query: [String: Any], _ what: String) throws(DeviceKeyError) -> [[String: Any]] {
        guard let result = try search(query, what) else { return [] }
        guard let items = result as? [[String: Any]] else { throw DeviceKeyError(errSecSuccess, what) }
        return items
    }

    static func remove(_ query: [String: Any], _ what: String) throws(DeviceKeyError) {
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw DeviceKeyError(status, what) }
    }
}

/// Checks that the keychain is unlocked.
///
/// Before the first unlock the keychain may answer "not found" for an item that exists, and the app would then make a new
/// key. While the class key is locked, no item can be added and no item's data can be read. So a probe item of the same
/// class is added once, and then read.
struct KeychainProbe: Sendable {
    private let items: KeychainItems
    private static let account = "probe"

    init(beside items: KeychainItems) {
        self.items = KeychainItems(service: items.service + ".probe", accessGroup: items.accessGroup)
    }

    /// - Throws: `DeviceKeyError` with `locked` if the keychain is locked; `notEntitled`, `failed`.
    func requireUnlocked() throws(DeviceKeyError) {
        if try items.add(Self.account, Data([1])) { return }
        guard try items.read(Self.account)?.data != nil else {
            throw DeviceKeyError(.locked, "the keychain can't be read: the device wasn't unlocked yet")
        }
    }
}

extension DeviceKeyError {
    /// Before the first unlock, items of this class return `errSecInteractionNotAllowed`. A missing keychain is treated the
    /// same way: both are temporary.
    init(_ status: OSStatus, _ what: String) {
        let code: Code =
            switch status {
            case errSecItemNotFound: .notFound
            case errSecInteractionNotAllowed, errSecNotAvailable: .locked
            case errSecDecode: .damaged
            case errSecMissingEntitlement: .notEntitled
            default: .failed
            }
        self.init(code, "the keychain can't \(what): status \(status)")
    }
}
#endif
