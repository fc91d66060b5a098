// The names are those of Apple's API.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// The part of Apple's documented API that PushCryptApple uses. On Apple's systems `as` converts these types to Swift types;
// here they are Swift types, so that the same `as` compiles.

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

/// The place for a function's error, which is retained, as the callers of Apple's functions expect.
typealias ErrorPointer = UnsafeMutablePointer<Unmanaged<CFError>?>

func fail<Result>(_ status: OSStatus, _ error: ErrorPointer?) -> Result? {
    unsafe error?.pointee = unsafe Unmanaged.passRetained(CFError(status))
    return nil
}
