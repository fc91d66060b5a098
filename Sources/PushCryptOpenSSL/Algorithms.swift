import CPushCryptOpenSSL
import PushCryptPrimitives

/// Algorithms fetched once for the process: an implicit fetch in every call takes a lock and doubles the cost.
///
/// `@unchecked Sendable`: OpenSSL's fetched algorithms and groups are immutable and may be shared between threads.
final class Algorithms: @unchecked Sendable {
    static let shared = Algorithms()

    private let aes128GCM = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)
    private let aes256GCM = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
    private let chaCha20Poly1305 = EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil)
    private let p256Group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)

    /// The cipher; missing where the installed OpenSSL was built or configured without it.
    func cipher(_ algorithm: AEADAlgorithm) throws -> OpaquePointer {
        switch algorithm {
        case .aes128GCM: try unwrap(aes128GCM, "EVP_CIPHER_fetch AES-128-GCM")
        case .aes256GCM: try unwrap(aes256GCM, "EVP_CIPHER_fetch AES-256-GCM")
        case .chaCha20Poly1305: try unwrap(chaCha20Poly1305, "EVP_CIPHER_fetch ChaCha20-Poly1305")
        }
    }

    /// Belongs to the group.
    var p256Generator: OpaquePointer? { p256Group.flatMap(EC_GROUP_get0_generator) }

    /// P-256 with its arithmetic tables.
    func p256() throws -> OpaquePointer {
        try unwrap(p256Group, "EC_GROUP_new_by_curve_name P-256")
    }
}
