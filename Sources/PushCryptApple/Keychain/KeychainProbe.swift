#if canImport(Security)
import Foundation
import PushCryptExtension
import Security

/// Proves that the keychain is unlocked.
///
/// An app that the system launches before the first unlock may be told that an item isn't found which is there. Whoever
/// believes that makes a new key. What can't be faked is encryption: nothing can be added, nor an item's data be read,
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
#endif
