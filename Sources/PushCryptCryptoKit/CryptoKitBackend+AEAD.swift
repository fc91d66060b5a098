public import PushCryptPrimitives

#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import Crypto
import FoundationEssentials
#endif

extension CryptoKitBackend {
    public func seal(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>,
        plaintext: Span<UInt8>, appendingTo output: inout [UInt8]
    ) throws {
        let key = try symmetricKey(algorithm, key, nonce)
        switch algorithm {
        case .aes128GCM, .aes256GCM:
            let box = try AES.GCM.seal(
                Array(plaintext), using: key, nonce: .init(data: Array(nonce)), authenticating: Array(aad))
            output.append(contentsOf: box.ciphertext)
            output.append(contentsOf: box.tag)
        case .chaCha20Poly1305:
            let box = try ChaChaPoly.seal(
                Array(plaintext), using: key, nonce: .init(data: Array(nonce)), authenticating: Array(aad))
            output.append(contentsOf: box.ciphertext)
            output.append(contentsOf: box.tag)
        }
    }

    public func open(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>, ciphertext: Span<UInt8>
    ) throws -> [UInt8] {
        let key = try symmetricKey(algorithm, key, nonce)
        let count = ciphertext.count - AEADAlgorithm.tagByteCount
        guard count >= 0 else { throw CryptoError(.authenticationFailure, "AEAD") }
        let body = Array(ciphertext.extracting(first: count))
        let tag = Array(ciphertext.extracting(last: AEADAlgorithm.tagByteCount))
        do {
            switch algorithm {
            case .aes128GCM, .aes256GCM:
                let box = try AES.GCM.SealedBox(nonce: .init(data: Array(nonce)), ciphertext: body, tag: tag)
                return Array(try AES.GCM.open(box, using: key, authenticating: Array(aad)))
            case .chaCha20Poly1305:
                let box = try ChaChaPoly.SealedBox(nonce: .init(data: Array(nonce)), ciphertext: body, tag: tag)
                return Array(try ChaChaPoly.open(box, using: key, authenticating: Array(aad)))
            }
        } catch {
            throw CryptoError(.authenticationFailure, "AEAD")
        }
    }

    private func symmetricKey(
        _ algorithm: AEADAlgorithm, _ key: Span<UInt8>, _ nonce: Span<UInt8>
    ) throws -> SymmetricKey {
        guard key.count == algorithm.keyByteCount, nonce.count == AEADAlgorithm.nonceByteCount else {
            throw CryptoError(.invalidLength, "the key has \(algorithm.keyByteCount) bytes and the nonce 12")
        }
        return SymmetricKey(copying: key)
    }
}

extension SymmetricKey {
    init(copying key: Span<UInt8>) {
        self = unsafe key.withUnsafeBytes { bytes in unsafe SymmetricKey(data: bytes) }
    }
}
