import CPushCryptOpenSSL
import PushCryptPrimitives

/// The functions of FIPS 202 that X-Wing uses.
enum SHA3 {
    /// SHA3-256.
    ///
    /// - Parameter digest: 32 bytes.
    static func hash256(_ message: Span<UInt8>, into digest: inout MutableSpan<UInt8>) throws {
        let algorithm = try Algorithms.shared.digest("SHA3-256")
        try digest.withUnsafeMutableBufferPointer { digest in
            try message.withUnsafeBufferPointer { message in
                let result = EVP_Digest(message.baseAddress, message.count, digest.baseAddress, nil, algorithm, nil)
                try check(result, "EVP_Digest SHA3-256")
            }
        }
    }

    /// SHAKE256.
    ///
    /// - Parameter output: of any length.
    static func shake256(_ message: Span<UInt8>, into output: inout MutableSpan<UInt8>) throws {
        let algorithm = try Algorithms.shared.digest("SHAKE256")
        let context = try unwrap(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { EVP_MD_CTX_free(context) }
        try check(EVP_DigestInit_ex2(context, algorithm, nil), "EVP_DigestInit_ex2 SHAKE256")
        try message.withUnsafeBufferPointer { message in
            try check(EVP_DigestUpdate(context, message.baseAddress, message.count), "EVP_DigestUpdate SHAKE256")
        }
        try output.withUnsafeMutableBufferPointer { output in
            try check(EVP_DigestFinalXOF(context, output.baseAddress, output.count), "EVP_DigestFinalXOF SHAKE256")
        }
    }
}
