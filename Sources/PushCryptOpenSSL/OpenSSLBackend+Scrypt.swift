import CPushCryptOpenSSL
public import PushCryptPrimitives

extension OpenSSLBackend: ScryptBackend {
    public func scrypt(
        passphrase: Span<UInt8>, salt: Span<UInt8>, parameters: ScryptParameters, count: Int
    ) throws -> SecretBytes {
        // OpenSSL takes lengths as size_t here and hands them on as int.
        let longest = Int(Int32.max)
        guard passphrase.count <= longest, salt.count <= longest, (1...longest).contains(count) else {
            throw CryptoError(.invalidLength, "scrypt gives 1 to 2^31 - 1 bytes, from as many at most")
        }
        let (n, r, p) = (UInt64(parameters.n), UInt64(parameters.r), UInt64(parameters.p))
        return try SecretBytes(count: count) { key in
            try key.withUnsafeMutableBufferPointer { key in
                let result = passphrase.withUnsafeBytes { passphrase in
                    salt.withUnsafeBufferPointer { salt in
                        EVP_PBE_scrypt(
                            passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), passphrase.count,
                            salt.baseAddress, salt.count, n, r, p, parameters.memoryLimit, key.baseAddress, key.count)
                    }
                }
                try check(result, "scrypt")
            }
        }
    }
}

extension ScryptParameters {
    /// What OpenSSL counts: B is 128 * p * r bytes, V and the two blocks that it works in are 128 * r * (N + 2). It
    /// stops at 32 MiB where no limit is given.
    fileprivate var memoryLimit: UInt64 { UInt64(memoryInBytes + 128 * r * (p + 2)) }
}
