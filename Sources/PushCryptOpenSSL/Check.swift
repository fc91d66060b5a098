import CPushCryptOpenSSL
import PushCryptPrimitives

/// Throws unless `result` is OpenSSL's 1 for success.
///
/// OpenSSL's error queue is emptied, never read: its texts could tell one decryption failure from another, and what
/// one call leaves there would be taken for a later call's error by other users of the library in this process.
func check(
    _ result: Int32, _ operation: StaticString, _ code: CryptoError.Code = .backendFailure
) throws {
    if result != 1 {
        throw failure(operation, code)
    }
}

/// The pointer, or an error where OpenSSL returned NULL.
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
