import CPushCryptOpenSSL
import PushCryptPrimitives

/// Scratch numbers for curve arithmetic, reused by one thread.
final class BigNumberContext {
    let pointer: OpaquePointer

    init() throws {
        pointer = try unwrap(BN_CTX_new(), "BN_CTX_new")
    }

    deinit {
        BN_CTX_free(pointer)
    }
}

/// A number that is secret: it takes the constant-time paths and is wiped when freed.
final class SecretNumber {
    let pointer: OpaquePointer

    init() throws {
        pointer = try unwrap(BN_new(), "BN_new")
        BN_set_flags(pointer, BN_FLG_CONSTTIME)
    }

    deinit {
        BN_clear_free(pointer)
    }

    /// Big-endian, filled up with zeros on the left.
    func serialized(count: Int) throws -> SecretBytes {
        try SecretBytes(count: count) { bytes in
            try bytes.withUnsafeMutableBufferPointer { buffer in
                let written = BN_bn2binpad(pointer, buffer.baseAddress, Int32(buffer.count))
                try check(written == Int32(buffer.count) ? 1 : 0, "BN_bn2binpad")
            }
        }
    }
}

/// A point of P-256; wiped when freed, since a shared secret is one.
final class CurvePoint {
    let pointer: OpaquePointer

    init() throws {
        pointer = try unwrap(EC_POINT_new(Algorithms.shared.p256()), "EC_POINT_new")
    }

    deinit {
        EC_POINT_clear_free(pointer)
    }
}
