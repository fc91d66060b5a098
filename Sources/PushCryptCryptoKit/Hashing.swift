import PushCryptPrimitives

#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import Crypto
import FoundationEssentials
#endif

/// HMAC-SHA256; the keyed state is a value, so each message begins with a copy of it.
final class CryptoKitHMAC: HMACSHA256 {
    private let keyed: HMAC<SHA256>
    private var running: HMAC<SHA256>

    init(key: Span<UInt8>) {
        keyed = HMAC<SHA256>(key: SymmetricKey(copying: key))
        running = keyed
    }

    func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { buffer in unsafe running.update(data: buffer) }
    }

    func finalize(into code: inout MutableSpan<UInt8>) {
        for (index, byte) in running.finalize().enumerated() {
            code[index] = byte
        }
        running = keyed
    }
}

/// SHA-256 of messages that come in pieces.
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
