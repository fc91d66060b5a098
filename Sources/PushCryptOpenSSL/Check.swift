import CPushCryptOpenSSL
import PushCryptPrimitives

/// Throws unless `result` is 1, OpenSSL's code for success.
///
/// OpenSSL's error queue is emptied, and its texts are never read. They could distinguish one decryption failure from
/// another, and other users of OpenSSL in this process would read an error that stays in the queue as their own.
/// - Parameter code: the reason if it isn't a lack of memory, which is always `backendFailure`.
func check(_ result: Int32, _ operation: StaticString, _ code: CryptoError.Code = .backendFailure) throws {
    if result != 1 { throw failure(operation, code) }
}

/// Returns the pointer, or throws if OpenSSL returned NULL.
func unwrap<Pointer>(
    _ pointer: Pointer?, _ operation: StaticString, _ code: CryptoError.Code = .backendFailure
) throws -> Pointer {
    guard let pointer else { throw failure(operation, code) }
    return pointer
}

/// Whether a verification that returned `result` succeeded; throws if OpenSSL lacked the memory for it.
func isVerified(_ result: Int32, _ operation: StaticString) throws -> Bool {
    if result == 1 { return true }
    let error = failure(operation, .authenticationFailure)
    if error.code == .backendFailure { throw error }
    return false
}

private func failure(_ operation: StaticString, _ code: CryptoError.Code) -> CryptoError {
    // Each call may run out of memory, and the same input may succeed later.
    let code = pushcrypt_clear_errors() == 1 ? CryptoError.Code.backendFailure : code
    guard code == .backendFailure else { return CryptoError(code, "\(operation)") }
    return CryptoError(code, "OpenSSL failed in \(operation): no memory, no random bytes, or no such algorithm")
}
