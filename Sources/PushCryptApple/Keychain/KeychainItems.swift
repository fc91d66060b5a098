#if canImport(Security)
import Foundation
import PushCryptExtension
import Security

/// The generic-password items of one service in one access group.
struct KeychainItems: Sendable {
    let service: String
    let accessGroup: String

    struct Item {
        let account: String
        let generic: Data?
        /// A copy that the system made: it can't be wiped, and goes when the last reference does.
        let data: Data?
    }

    private var query: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccessGroup as String: accessGroup,
            // On a Mac there is an older keychain beside this one.
            kSecUseDataProtectionKeychain as String: true,
        ]
    }

    private func query(_ account: String) -> [String: Any] {
        query.merging([kSecAttrAccount as String: account]) { $1 }
    }

    /// - Returns: nil where the keychain says that there is none, which is no proof before the first unlock.
    func read(_ account: String) throws(DeviceKeyError) -> Item? {
        var query = query(account)
        query[kSecReturnData as String] = true
        query[kSecReturnAttributes as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let attributes = result as? [String: Any] else {
            throw DeviceKeyError(status, "read key \(account)")
        }
        return Item(attributes)
    }

    /// All of them, without their data.
    func list() throws(DeviceKeyError) -> [Item] {
        var query = query
        query[kSecReturnAttributes as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        var result: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return [] }
        guard status == errSecSuccess, let items = result as? [[String: Any]] else {
            throw DeviceKeyError(status, "list the keys")
        }
        return items.compactMap(Item.init)
    }

    /// - Returns: false where there is an item of that account.
    func add(_ account: String, _ data: Data, generic: Data? = nil) throws(DeviceKeyError) -> Bool {
        var attributes = query(account)
        attributes[kSecValueData as String] = data
        attributes[kSecAttrGeneric as String] = generic
        // Pushes come to a locked device, too; and a key that moved to another device would open there.
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

    /// Nothing where there is none.
    func remove(_ account: String) throws(DeviceKeyError) {
        let status = SecItemDelete(query(account) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
            throw DeviceKeyError(status, "remove key \(account)")
        }
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

/// Proves that the keychain is unlocked.
///
/// An app that the system launches before the first unlock may get "not found" for an item that exists, and
/// would then make a new key. Encryption shows the truth: nothing can be added, nor an item's data be read,
/// while the class key is locked. An item of the same class without meaning is added, once, and read.
struct KeychainProbe: Sendable {
    private let items: KeychainItems
    private static let account = "probe"

    init(beside items: KeychainItems) {
        self.items = KeychainItems(service: items.service + ".probe", accessGroup: items.accessGroup)
    }

    /// - Throws: `DeviceKeyError` with `locked` if there is no proof; `notEntitled`, `failed`.
    func requireUnlocked() throws(DeviceKeyError) {
        if try items.add(Self.account, Data([1])) { return }
        guard try items.read(Self.account)?.data != nil else {
            throw DeviceKeyError(.locked, "the keychain doesn't show what is in it: the device wasn't unlocked yet")
        }
    }
}

extension DeviceKeyError {
    /// What a status of the keychain means here.
    ///
    /// Before the first unlock items of this class answer that no interaction is allowed; no keychain at all is taken for
    /// the same: both go away by themselves.
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
