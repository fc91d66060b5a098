public import Foundation

/// The keychain in memory that the functions use. Each test uses its own access group.
public final class StubKeychain: @unchecked Sendable {
    // Unchecked because of the variables: they are read and written under the lock.
    private let lock = NSLock()
    private var items: [[String: Any]] = []
    private var conditions: [String: Condition] = [:]
    private var callCounts: [String: Int] = [:]

    public static let shared = StubKeychain()

    /// The condition of the keychain for an access group.
    public enum Condition: Sendable {
        case open
        /// Before the first unlock, with the documented status.
        case locked
        /// Before the first unlock, with a status that apps have received in practice: existing items aren't found.
        case hidden
        /// There is no keychain.
        case unavailable
        /// The access group isn't the app's.
        case foreign
    }

    public func setCondition(_ condition: Condition, ofGroup group: String) {
        lock.withLock { conditions[group] = condition }
    }

    /// How many calls there were for the group.
    public func callCount(inGroup group: String) -> Int { lock.withLock { callCounts[group, default: 0] } }

    /// All items of the group, independent of its condition.
    public func items(inGroup group: String) -> [[String: Any]] {
        lock.withLock { items.filter { $0[kSecAttrAccessGroup] as? String == group } }
    }

    /// Replaces the data of an account, like a fault of the disk.
    public func damage(_ account: String, inGroup group: String, _ data: Data) {
        lock.withLock {
            for index in items.indices
            where items[index][kSecAttrAccount] as? String == account
                && items[index][kSecAttrAccessGroup] as? String == group
            {
                items[index][kSecValueData] = data
            }
        }
    }

    func add(_ attributes: CFDictionary) -> OSStatus {
        lock.withLock {
            let item = attributes.filter { $0.key != kSecUseDataProtectionKeychain }
            guard item[kSecClass] is String, item[kSecAttrAccessible] is String else { return errSecParam }
            // Nothing can be encrypted before the first unlock either.
            let status = readiness(item)
            guard status == errSecSuccess else {
                return status == errSecItemNotFound ? errSecInteractionNotAllowed : status
            }
            guard !items.contains(where: { Self.identity($0) == Self.identity(item) }) else {
                return errSecDuplicateItem
            }
            items.append(item)
            return errSecSuccess
        }
    }

    func find(_ query: CFDictionary) -> (OSStatus, CFTypeRef?) {
        lock.withLock {
            let status = readiness(query)
            guard status == errSecSuccess else { return (status, nil) }
            let found = items.filter { Self.matches($0, query) }.map { Self.answer($0, query) }
            guard let first = found.first else { return (errSecItemNotFound, nil) }
            return (errSecSuccess, query[kSecMatchLimit] as? String == kSecMatchLimitAll ? found : first)
        }
    }

    func update(_ query: CFDictionary, _ changes: CFDictionary) -> OSStatus {
        lock.withLock {
            let status = readiness(query)
            guard status == errSecSuccess else { return status }
            let found = items.indices.filter { Self.matches(items[$0], query) }
            for index in found { items[index].merge(changes) { $1 } }
            return found.isEmpty ? errSecItemNotFound : errSecSuccess
        }
    }

    func remove(_ query: CFDictionary) -> OSStatus {
        lock.withLock {
            let status = readiness(query)
            guard status == errSecSuccess else { return status }
            let count = items.count
            items.removeAll { Self.matches($0, query) }
            return items.count == count ? errSecItemNotFound : errSecSuccess
        }
    }

    private func readiness(_ query: CFDictionary) -> OSStatus {
        guard query[kSecClass] is String, let group = query[kSecAttrAccessGroup] as? String else { return errSecParam }
        callCounts[group, default: 0] += 1
        return switch conditions[group] ?? .open {
        case .open: errSecSuccess
        case .locked: errSecInteractionNotAllowed
        case .hidden: errSecItemNotFound
        case .unavailable: errSecNotAvailable
        case .foreign: errSecMissingEntitlement
        }
    }

    /// The attributes that identify an item. Keys are distinguished by their public halves.
    private static func identity(_ item: [String: Any]) -> [String] {
        let names = [kSecClass, kSecAttrAccessGroup, kSecAttrService, kSecAttrAccount]
        let key = (item[kSecValueRef] as? SecKey).map { "\(ObjectIdentifier($0))" }
        return names.map { item[$0] as? String ?? "" } + [key ?? ""]
    }

    private static let options = [
        kSecMatchLimit, kSecReturnAttributes, kSecReturnData, kSecReturnRef, kSecUseDataProtectionKeychain,
    ]

    private static func matches(_ item: [String: Any], _ query: CFDictionary) -> Bool {
        query.allSatisfy { name, value in
            if options.contains(name) { return true }
            return switch value {
            case let text as String: item[name] as? String == text
            case let data as Data: item[name] as? Data == data
            default: false
            }
        }
    }

    private static func answer(_ item: [String: Any], _ query: CFDictionary) -> CFTypeRef {
        let wantsData = query[kSecReturnData] as? Bool == true
        if query[kSecReturnRef] as? Bool == true, let key = item[kSecValueRef] { return key }
        guard query[kSecReturnAttributes] as? Bool == true else {
            return wantsData ? item[kSecValueData] ?? Data() : item
        }
        return item.filter { name, _ in name != kSecValueRef && (wantsData || name != kSecValueData) }
    }
}
