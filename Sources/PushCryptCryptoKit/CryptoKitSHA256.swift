import PushCryptPrimitives

#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import Crypto
import FoundationEssentials
#endif

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
