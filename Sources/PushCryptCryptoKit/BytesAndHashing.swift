import PushCryptPrimitives

#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import Crypto
import FoundationEssentials
#endif

// The unsafe code of this target: CryptoKit reads bytes through unsafe buffers.

/// Secret bytes as an argument of CryptoKit, without a copy that would have to be wiped. Valid only during a call of
/// `Span.withContiguousBytes`.
@safe struct BorrowedBytes: ContiguousBytes {
    fileprivate let buffer: UnsafeRawBufferPointer

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try unsafe body(buffer)
    }
}

extension Span<UInt8> {
    func withContiguousBytes<Result>(_ body: (BorrowedBytes) throws -> Result) rethrows -> Result {
        try unsafe withUnsafeBytes { buffer in try unsafe body(BorrowedBytes(buffer: buffer)) }
    }
}

extension SecretBytes {
    /// Copies the bytes of a CryptoKit value.
    convenience init(copying source: some ContiguousBytes) {
        let bytes = unsafe source.withUnsafeBytes { SecretBytes(copying: unsafe Span(_unsafeBytes: $0)) }
        self.init(copying: bytes.bytes)
    }
}

extension SymmetricKey {
    init(copying key: Span<UInt8>) { self = key.withContiguousBytes { bytes in SymmetricKey(data: bytes) } }
}

/// HMAC-SHA256. The keyed state is a value: each message begins with a copy of it.
final class CryptoKitHMAC: HMACSHA256 {
    private let keyed: HMAC<SHA256>
    private var running: HMAC<SHA256>

    init(key: Span<UInt8>) {
        keyed = HMAC<SHA256>(key: SymmetricKey(copying: key))
        running = keyed
    }

    func update(_ bytes: Span<UInt8>) { unsafe bytes.withUnsafeBytes { buffer in unsafe running.update(data: buffer) } }

    func finalize(into code: inout MutableSpan<UInt8>) {
        for (index, byte) in running.finalize().enumerated() { code[index] = byte }
        running = keyed
    }
}

/// SHA-256 of messages that are read in pieces.
final class CryptoKitSHA256: IncrementalSHA256 {
    private var running = SHA256()

    func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { buffer in unsafe running.update(bufferPointer: buffer) }
    }

    func finalize() -> [UInt8] {
        defer { running = SHA256() }
        return Array(running.finalize())
    }
}
