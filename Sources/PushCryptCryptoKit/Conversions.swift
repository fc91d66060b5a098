import PushCryptPrimitives

#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import Crypto
import FoundationEssentials
#endif

extension Span where Element == UInt8 {
    /// Hands `body` the bytes where they lie: a copy would have to be wiped.
    func withoutCopying<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try unsafe withUnsafeBytes { bytes in try unsafe body(bytes) }
    }
}

extension SecretBytes {
    /// A copy of what a CryptoKit value that guards its bytes holds.
    convenience init(copying source: some ContiguousBytes) {
        let bytes = unsafe source.withUnsafeBytes { buffer in
            SecretBytes(count: buffer.count) { target in
                for index in buffer.indices {
                    target[index] = unsafe buffer[index]
                }
            }
        }
        self.init(copying: bytes.bytes)
    }
}

extension SymmetricKey {
    init(copying key: Span<UInt8>) {
        self = unsafe key.withUnsafeBytes { bytes in unsafe SymmetricKey(data: bytes) }
    }
}
