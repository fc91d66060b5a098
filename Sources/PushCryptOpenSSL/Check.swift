import CPushCryptOpenSSL
import PushCryptPrimitives

// OpenSSL's error queue is emptied after each failure, and its texts are never read. They could distinguish one decryption
// failure from another, and other users of OpenSSL in this process would read an error that stays in the queue as their own.

/// Throws `backendFailure` unless `result` is 1, OpenSSL's code for success. For calls whose input can't be at fault.
func check(_ result: Int32, _ operation: StaticString) throws {
    if result != 1 { throw backendFailure(operation) }
}

/// Returns the pointer, or throws `backendFailure` if OpenSSL returned NULL.
func unwrap<Pointer>(_ pointer: Pointer?, _ operation: StaticString) throws -> Pointer {
    guard let pointer else { throw backendFailure(operation) }
    return pointer
}

/// Throws unless a call that draws random bytes returned 1.
func checkRandom(_ result: Int32, _ operation: StaticString) throws {
    guard result != 1 else { return }
    if pushcrypt_clear_errors() == 1 { throw lackOfMemory(operation) }
    throw backendFailure(operation, "OpenSSL has no random bytes")
}

/// Throws an error with this code unless `call` returns 1: for calls whose input may be at fault. A lack of memory that
/// OpenSSL reports is `backendFailure`, because the same input may succeed later.
///
/// The error queue is emptied before the call, too. A lack of memory that another user of OpenSSL left there would count as
/// the reason.
func check(_ operation: StaticString, orThrow code: CryptoError.Code, _ call: () throws -> Int32) throws {
    _ = pushcrypt_clear_errors()
    guard try call() != 1 else { return }
    if pushcrypt_clear_errors() == 1 { throw lackOfMemory(operation) }
    throw CryptoError(code, "\(operation)")
}

func lackOfMemory(_ operation: StaticString) -> CryptoError { backendFailure(operation, "OpenSSL lacks memory") }

private func backendFailure(
    _ operation: StaticString, _ reason: String = "OpenSSL lacks memory or the algorithm"
) -> CryptoError {
    _ = pushcrypt_clear_errors()
    return CryptoError(.backendFailure, "\(reason): \(operation) failed")
}
