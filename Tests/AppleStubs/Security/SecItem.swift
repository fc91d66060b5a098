// The names are those of Apple's API.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    StubKeychain.shared.add(attributes)
}

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let (status, found) = StubKeychain.shared.find(query)
    unsafe result?.pointee = found
    return status
}

public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    StubKeychain.shared.update(query, attributesToUpdate)
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    StubKeychain.shared.remove(query)
}
