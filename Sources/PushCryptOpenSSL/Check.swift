import CPushCryptOpenSSL
import PushCryptPrimitives

/// Throws unless `result` is 1, OpenSSL's code for success.
///
/// OpenSSL's error queue is emptied and never read. Its texts could distinguish one decryption failure from another, and
/// other users of OpenSSL in this process would read an error that stays in the queue as their own.
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

private func failure(_ operation: StaticString, _ code: CryptoError.Code) -> CryptoError {
    ERR_clear_error()
    return CryptoError(code, "\(operation)")
}
