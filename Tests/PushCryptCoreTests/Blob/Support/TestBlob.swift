import PushCryptPrimitives
import PushCryptTestSupport

@testable import PushCryptCore

/// Blobs with a fixed key, which a test seals and opens in pieces of its choice.
enum TestBlob {
    static let chunk = BlobFormat.chunkByteCount
    static let tag = AEADAlgorithm.tagByteCount
    static let magic = BlobFormat.magic.count
    static let openSSL = Backends.openSSL.backend

    static var key: SecretBytes {
        let bytes = (UInt8(0)..<32).map { $0 &* 7 &+ 3 }
        return SecretBytes(copying: bytes.bytes)
    }

    /// The plaintexts of the vectors: byte i of n is i * 167 + (i >> 8) * 13 + n, modulo 256.
    static func plaintext(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ ($0 >> 8) &* 13 &+ count) }
    }

    static func sealed(
        _ plaintext: [UInt8], _ purpose: BlobPurpose = .attachment, pieces: Pieces = .whole,
        _ backend: any CryptoBackend = openSSL
    ) throws -> (blob: [UInt8], reference: BlobReference) {
        let sealer = BlobSealer(purpose, key: key, backend: backend)
        var blob: [UInt8] = []
        for piece in pieces.split(plaintext) { try sealer.seal(piece, appendingTo: &blob) }
        let reference = try sealer.finish(appendingTo: &blob)
        return (blob, reference)
    }

    static func opened(
        _ blob: [UInt8], _ reference: BlobReference, pieces: Pieces = .whole, _ backend: any CryptoBackend = openSSL
    ) throws(FailureClass) -> [UInt8] {
        let opener = BlobOpener(reference, backend: backend)
        var plaintext: [UInt8] = []
        for piece in pieces.split(blob) { try opener.open(piece, appendingTo: &plaintext) }
        try opener.finish()
        return plaintext
    }

    /// The failure of opening; nil if it succeeds.
    static func failure(_ blob: [UInt8], _ reference: BlobReference, pieces: Pieces = .whole) -> FailureClass? {
        do throws(FailureClass) {
            _ = try opened(blob, reference, pieces: pieces)
            return nil
        } catch {
            return error
        }
    }

    /// How bytes are split.
    enum Pieces: Sendable, CustomStringConvertible {
        case whole
        case of(Int)
        /// Pieces of random lengths up to that number of bytes, including empty ones.
        case random(Int, seed: UInt64)

        func split(_ bytes: [UInt8]) -> [[UInt8]] {
            var (pieces, start) = ([[UInt8]](), 0)
            guard case .random(let limit, let seed) = self else {
                let count = if case .of(let count) = self { count } else { max(bytes.count, 1) }
                return stride(from: 0, to: bytes.count, by: count).map {
                    Array(bytes[$0..<min($0 + count, bytes.count)])
                }
            }
            var generator = SplitMix64(seed: seed)
            while start < bytes.count {
                let end = min(start + Int.random(in: 0...limit, using: &generator), bytes.count)
                pieces.append(Array(bytes[start..<end]))
                start = end
            }
            return pieces
        }

        var description: String {
            switch self {
            case .whole: "whole"
            case .of(let count): "of \(count)"
            case .random(let limit, let seed): "up to \(limit), seed \(seed)"
            }
        }
    }
}

extension BlobReference {
    /// A reference with other members and the digest of `blob`, so that nothing but the format refuses it.
    func changed(
        _ purpose: BlobPurpose? = nil, size: Int64? = nil, digestOf blob: [UInt8]? = nil
    ) throws -> BlobReference? {
        let digest = try blob.map { try TestBlob.openSSL.sha256($0.bytes) } ?? sha256
        return BlobReference(purpose ?? self.purpose, key: key, size: size ?? self.size, sha256: digest)
    }
}
