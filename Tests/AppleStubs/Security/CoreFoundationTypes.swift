// Apple's names, to the letter.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// Apple's API as documented, as far as the adapters use it. On Apple's systems these types bridge to Swift's by `as`; here
// they are Swift's, so that the same `as` compiles.

public typealias CFTypeRef = Any
public typealias CFString = String
public typealias CFData = Data
public typealias CFDictionary = [String: Any]
public typealias CFIndex = Int
public typealias CFAllocator = Never
public typealias OSStatus = Int32

public final class CFError: Error, Sendable {
    let code: CFIndex

    init(_ status: OSStatus) {
        code = CFIndex(status)
    }
}

public func CFErrorGetCode(_ error: CFError!) -> CFIndex { error.code }

/// Where a function leaves its error: retained, as the callers of Apple's functions expect.
typealias ErrorPointer = UnsafeMutablePointer<Unmanaged<CFError>?>

func fail<Result>(_ status: OSStatus, _ error: ErrorPointer?) -> Result? {
    unsafe error?.pointee = unsafe Unmanaged.passRetained(CFError(status))
    return nil
}
